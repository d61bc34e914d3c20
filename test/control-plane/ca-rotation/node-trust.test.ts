import assert from 'node:assert/strict'
import {nodeReasons} from '../../../src/control-plane/ca-rotation/node-trust.ts'
import {TRUST_REPORT} from '../../../src/node/trust-report.ts'

const NOW = new Date('2026-03-10T00:00:00Z')
const PIN = `sha256:${'b'.repeat(64)}`
const unit = (id: string, oldKey: string) => ({
  id,
  old: {pin: `sha256:${'a'.repeat(64)}`, keyId: oldKey},
  new: {pin: PIN, keyId: 'bb'},
})

const certificate = (issuerKeyId?: string) => ({
  serial: '1',
  issuer: 'CN=x',
  ...(issuerKeyId !== undefined && {issuerKeyId}),
  notBefore: '2026-01-01T00:00:00Z',
  notAfter: '2027-01-01T00:00:00Z',
})

/** How many reasons a node has whose certificates name these keys. */
const count = (key: string | undefined, oldKey: string, on: 'old' | 'new' = 'old'): number => {
  const report = {trusts: [PIN], client: certificate(key), serving: certificate(key)}
  const node = {metadata: {name: 'one', annotations: {[TRUST_REPORT]: JSON.stringify(report)}}}
  const units = [unit('client-ca', oldKey), unit('kubelet-serving-ca', oldKey)]
  return nodeReasons({units}, node, on, NOW).length
}

describe('a node whose kubelet does not know the CA of its callers', () => {
  it('would refuse them, until it reports that CA', () => {
    const reasons = (kubeletClients?: string[]) => {
      const report = {trusts: [PIN], client: certificate('cc'), kubeletClients}
      const node = {metadata: {name: 'one', annotations: {[TRUST_REPORT]: JSON.stringify(report)}}}
      return nodeReasons({units: [unit('kubelet-ca', 'aa')]}, node, 'old', NOW)
    }
    assert.equal(reasons([PIN]).length, 0)
    for (const found of [reasons([]), reasons()])
      assert.match(found.join(), /its kubelet does not accept the new CA/)
  })
})

describe('a node whose issuer cannot be told', () => {
  it('depends on the old CA if its certificates do not name the key', () => {
    assert.equal(count(undefined, 'aa'), 2)
    assert.equal(count(undefined, 'aa', 'new'), 0)
  })

  it('depends on an old CA whose key has no id, unless the new one has signed', () => {
    assert.equal(count('aa', ''), 2)
    assert.equal(count('bb', ''), 0)
  })

  it('is told by the id of the key otherwise', () => {
    assert.deepEqual([count('aa', 'aa'), count('bb', 'aa')], [2, 0])
    assert.deepEqual([count('aa', 'aa', 'new'), count('bb', 'aa', 'new')], [0, 2])
    assert.equal(count('cc', 'aa'), 0)
  })
})
