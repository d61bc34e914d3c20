import assert from 'node:assert/strict'
import {
  atLeastOne,
  count,
  logPath,
  memoryMegabytes,
  storeBytes,
  nodeName,
  serviceRange,
  subnet,
} from '../../../src/control-plane/config/fields.ts'

describe('the name of the machine that a control plane runs on', () => {
  for (const name of [
    '',
    'invalid-nodename-',
    'invalid-node?name',
    '-a',
    'a..b',
    'a'.repeat(254),
  ]) {
    it(`is not "${name.slice(0, 20)}"`, () => {
      assert.throws(() => nodeName(name, '--node-name'), {code: 'CONFIG_INVALID'})
    })
  }

  it('is brought down to lower case, as kubeadm does', () => {
    assert.equal(nodeName('Node-1.Example.com', '--node-name'), 'node-1.example.com')
  })
})

describe('the settings of the audit log', () => {
  it('take whole numbers, from a file or a command line', () => {
    assert.deepEqual([count(0, 'a'), count('30', 'a'), atLeastOne('1', 'a')], [0, 30, 1])
  })

  for (const value of [-1, 1.5, '1e3', '', '10M', '99999999', null, NaN]) {
    it(`refuse ${JSON.stringify(value)} as a number`, () => {
      assert.throws(() => count(value, '--audit-log-maxage'), {code: 'CONFIG_INVALID'})
    })
  }

  it('refuse files without a size, and the standard output as a path', () => {
    assert.throws(() => atLeastOne(0, '--audit-log-maxsize'), {code: 'CONFIG_INVALID'})
    assert.throws(() => logPath('-', '--audit-log-path'), {code: 'CONFIG_INVALID'})
    assert.equal(logPath('/var/log/audit.log', '--audit-log-path'), '/var/log/audit.log')
  })
})

describe('the memory of the server', () => {
  it('is a number of megabytes that a server can work with', () => {
    assert.equal(memoryMegabytes('2048', '--target-ram-mb'), 2048)
    for (const value of ['255', '1Gi', '-1']) {
      assert.throws(() => memoryMegabytes(value, '--target-ram-mb'), {code: 'CONFIG_INVALID'})
    }
  })
})

describe('the quota of the store', () => {
  it('is a number of bytes that a server can work with', () => {
    assert.equal(storeBytes('1073741824', '--quota-backend-bytes'), 1 << 30)
    for (const value of ['1024', '512Mi', '9'.repeat(15)]) {
      assert.throws(() => storeBytes(value, '--quota-backend-bytes'), {code: 'CONFIG_INVALID'})
    }
  })
})

describe('serviceRange', () => {
  const cases: [string, string][] = [
    ['10.96.0.0/12', '10.96.0.1'],
    ['10.103.7.9/12', '10.96.0.1'],
    ['192.168.4.0/22', '192.168.4.1'],
    ['fd00:1::/108', 'fd00:1::1'],
    ['10.96.0.0/12,fd00::/108', '10.96.0.1'],
  ]
  for (const [range, first] of cases) {
    it(`of ${range} is ${first}`, () => assert.equal(serviceRange(range).first, first))
  }
})

describe('the subnet of services', () => {
  for (const range of ['', '10.96.0.0', '10.96.0.0/33', '10.96.0.0/x', 'a/8', '10.0.0.0/31']) {
    it(`refuses "${range}"`, () =>
      assert.throws(() => subnet(range, 'x'), {code: 'CONFIG_INVALID'}))
  }
})
