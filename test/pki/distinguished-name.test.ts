import assert from 'node:assert/strict'
import {formatName, formatSubject} from '../../src/pki/distinguished-name.ts'
import {OID} from '../../src/pki/oids.ts'

const attributes = [
  {oid: OID.country, value: 'DE'},
  {oid: OID.organization, value: 'system:nodes'},
  {oid: OID.organization, value: 'other'},
  {oid: OID.commonName, value: 'system:node:a'},
]

describe('a name as text', () => {
  it('keeps the order of the certificate where names are compared', () => {
    assert.equal(formatName({attributes}), 'C=DE, O=system:nodes, O=other, CN=system:node:a')
  })
  it('starts with the common name and the organizations where people read it', () => {
    const text = formatSubject({attributes})
    assert.equal(text, 'CN=system:node:a, O=system:nodes, O=other, C=DE')
  })
})
