import assert from 'node:assert/strict'
import {generateKeyPairSync} from 'node:crypto'
import {element, sequence} from '../../src/pki/der-writer.ts'
import {OID} from '../../src/pki/oids.ts'
import {isForHost, problemOfServer} from '../../src/pki/server-identity.ts'
import {NO_NAMES} from '../../src/pki/subject-names.ts'
import {CERT_SIGN, Extension, make, makeAuthority, type Made} from './certificate-builder.ts'
import {withKeyInfo} from './hostile-certificates.ts'

const HOST = 'api.example.com'
const [EMAIL, DNS] = [0x81, 0x82]

const nameList = (...names: [tag: number, name: string][]) =>
  new Extension(
    OID.subjectAltName,
    false,
    sequence(...names.map(([tag, name]) => element(tag, Buffer.from(name, 'latin1')))),
  )

describe('the hosts of a certificate', () => {
  const cases: [name: string, host: string, isFor: boolean][] = [
    ['api.example.com', 'api.example.com', true],
    ['API.example.com', 'api.EXAMPLE.com', true],
    ['api.example.com', 'api.example.com.', true],
    ['*.example.com', 'api.example.com', true],
    ['*.example.com', 'a.api.example.com', false],
    ['*.example.com', 'example.com', false],
    ['*.*.com', 'api.example.com', false],
    ['api.*.com', 'api.example.com', false],
    ['a*.example.com', 'api.example.com', false],
    ['*i.example.com', 'api.example.com', false],
    ['*', 'localhost', false],
    ['', '', false],
    ['under_score.example.com', 'under_score.example.com', true],
    ['192.0.2.1', '192.0.2.1', false],
  ]
  for (const [name, host, isFor] of cases) {
    it(`${isFor ? 'hold' : 'do not hold'} for "${host}" with the name "${name}"`, () => {
      assert.equal(isForHost({...NO_NAMES, dns: [name]}, host), isFor)
    })
  }

  it('hold for addresses by their value', () => {
    const names = {...NO_NAMES, ips: ['192.0.2.1', '2001:db8::1']}
    assert.equal(isForHost(names, '192.0.2.1'), true)
    assert.equal(isForHost(names, '[2001:DB8:0::1]'), true)
    assert.equal(isForHost(names, '192.0.2.2'), false)
  })
})

describe('the chain of a server, as Go sees it', () => {
  const problem = (...chain: Buffer[]) => problemOfServer(chain, HOST)
  let root: Made
  let leaf: Made
  before(async () => {
    root = await makeAuthority('root')
    leaf = await make({by: root, extensions: [nameList([DNS, HOST])]})
  })

  const rootWith = (type: 'ec' | 'dsa', options: object) => {
    const {publicKey} = generateKeyPairSync(type as 'ec', options as {namedCurve: string})
    return withKeyInfo(publicKey.export({type: 'spki', format: 'der'}), {
      subject: 'root',
      issuer: 'root',
    })
  }

  it('is good with a usual root', () => {
    assert.equal(problem(leaf.der, root.der), undefined)
    assert.equal(problem(leaf.der), undefined)
  })

  it('is refused for another host, and if it cannot be read', () => {
    assert.equal(problemOfServer([leaf.der, root.der], 'other.example.com'), 'host')
    assert.equal(problem(Buffer.from('nonsense')), 'unreadable')
    assert.equal(problem(), 'unreadable')
  })

  it('is refused with a root without basicConstraints', async () => {
    const silent = await make({name: 'CN=root', hasConstraints: false, keyUsages: CERT_SIGN})
    assert.equal(problem(leaf.der, silent.der), 'root')
  })

  it('is refused with a DSA root, and with one on P-192', () => {
    const dsa = rootWith('dsa', {modulusLength: 1024, divisorLength: 160})
    assert.equal(problem(leaf.der, dsa), 'root key')
    assert.equal(problem(leaf.der, rootWith('ec', {namedCurve: 'prime192v1'})), 'root key')
    assert.equal(problem(leaf.der, rootWith('ec', {namedCurve: 'P-384'})), undefined)
  })

  for (const [name, tag] of [
    ['a..example.com', DNS],
    ['.example.com', DNS],
    ['a.example.com.', DNS],
    ['a b.example.com', DNS],
    ['no-domain', EMAIL],
    ['a@b@example.com', EMAIL],
    ['a@example..com', EMAIL],
  ] as const) {
    it(`is refused with the odd name "${name}" below a CA with name constraints only`, async () => {
      const constraints = new Extension(OID.nameConstraints, true, Buffer.from('3000', 'hex'))
      const limiting = await makeAuthority('limiting', {by: root, extensions: [constraints]})
      const extensions = [nameList([DNS, HOST], [tag, name])]
      const odd = await make({by: limiting, extensions})
      assert.equal(problem(odd.der, limiting.der, root.der), 'constrained name')
      assert.equal(problem(odd.der, root.der), undefined)
      const usual = await make({
        by: limiting,
        extensions: [nameList([DNS, HOST], [EMAIL, 'a@b.c'])],
      })
      assert.equal(problem(usual.der, limiting.der, root.der), undefined)
    })
  }
})
