import assert from 'node:assert/strict'
import type {Pod} from '../../../src/api/pod.ts'
import {managerApproves} from '../../../src/control-plane/requests/kube-controller-manager.ts'
import {TrustError} from '../../../src/errors.ts'
import {fixedClock, NOW} from '../../pki/support.ts'

const secondsAgo = (seconds: number) => new Date(NOW.getTime() - seconds * 1000).toISOString()
const podWith = (...args: string[]): Pod => ({
  metadata: {name: 'kube-controller-manager-cp1'},
  spec: {containers: [{name: 'c', command: ['kube-controller-manager', ...args]}]},
})

describe('whether kube-controller-manager approves requests', () => {
  const approves = (
    pods: Pod[],
    {
      gitVersion = 'v1.36.4',
      renewTime = secondsAgo(1),
      pod = () => Promise.resolve({items: pods}),
    } = {},
  ) =>
    managerApproves(
      {
        version: () => Promise.resolve({gitVersion}),
        leases: {find: () => Promise.resolve({metadata: {}, spec: {renewTime}})},
        pods: {list: pod},
      } as unknown as Parameters<typeof managerApproves>[0],
      fixedClock(),
    )

  const cases: [does: boolean, name: string, ...args: string[]][] = [
    [true, 'runs all controllers'],
    [true, 'names others too', '--controllers=*,bootstrapsigner,tokencleaner'],
    [false, 'leaves out its approver', '--controllers=*,-csrapproving'],
    [
      false,
      'leaves it out by its current name',
      '--controllers=*,-certificatesigningrequest-approving-controller',
    ],
    [false, 'runs only others', '--controllers=bootstrapsigner'],
    [true, 'runs only the approver', '--controllers=csrapproving'],
  ]
  for (const [does, name, ...args] of cases) {
    it(`is ${does ? 'true' : 'false'} where it ${name}`, async () => {
      assert.equal(await approves([podWith(...args)]), does)
    })
  }

  it('is true where one of several approves, and where its pods are not seen', async () => {
    assert.equal(await approves([podWith('--controllers=*,-csrapproving'), podWith()]), true)
    assert.equal(await approves([]), true)
    const refused = () => Promise.reject(new TrustError('FORBIDDEN', 'no pods for you'))
    assert.equal(await approves([], {pod: refused}), true)
  })

  it("is false where its Lease has ended, and on trustadm's own server", async () => {
    assert.equal(await approves([], {renewTime: secondsAgo(60)}), false)
    assert.equal(await approves([], {gitVersion: 'v1.36.4+trustadm.1'}), false)
  })
})
