import assert from 'node:assert/strict'
import {checkCertificates} from '../../soak/linearizability/check-certificates.ts'

const line = (uid: string, fingerprint: string, {name = 'system:node:a', pin = 'key'} = {}) => ({
  uid,
  fingerprint,
  commonName: name,
  pin,
})

describe('the check of certificates after faults', () => {
  it('passes if each request has the certificate of its line', () => {
    const issued = [line('u1', 'f1'), line('u2', 'f2', {name: 'system:node:b', pin: 'other'})]
    const published = [
      {uid: 'u1', fingerprint: 'f1'},
      {uid: 'u2', fingerprint: 'f2'},
    ]
    assert.deepEqual(checkCertificates(issued, published), {
      issued: 2,
      unpublished: 0,
      faults: [],
    })
  })

  it('counts a certificate that was signed and never published, which is no fault', () => {
    const issued = [line('u1', 'f1'), line('u1', 'f2')]
    const verdict = checkCertificates(issued, [{uid: 'u1', fingerprint: 'f2'}])
    assert.deepEqual(verdict, {issued: 2, unpublished: 1, faults: []})
  })

  it('finds two certificates that were published for one request', () => {
    const published = ['f1', 'f2'].map((fingerprint) => ({uid: 'u1', fingerprint}))
    const {faults} = checkCertificates([line('u1', 'f1'), line('u1', 'f2')], published)
    assert.deepEqual(faults, ['2 certificates were published for the request u1'])
  })

  it('finds a certificate that is in no log, or only in the line of another request', () => {
    for (const issued of [[], [line('u2', 'f1')]]) {
      const {faults} = checkCertificates(issued, [{uid: 'u1', fingerprint: 'f1'}])
      assert.deepEqual(faults, ['a certificate was published, and is in no log: u1 f1'])
    }
  })

  it('finds a name that two keys got a certificate for, published or not', () => {
    const issued = [line('u1', 'f1'), line('u2', 'f2', {pin: 'other'})]
    const {faults} = checkCertificates(issued, [{uid: 'u1', fingerprint: 'f1'}])
    assert.deepEqual(faults, ['2 keys got a certificate for system:node:a'])
  })
})
