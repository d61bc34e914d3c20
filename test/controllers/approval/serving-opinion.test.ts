import assert from 'node:assert/strict'
import {AddressBook} from '../../../src/controllers/approval/address-book.ts'
import {servingOpinion} from '../../../src/controllers/approval/serving-opinion.ts'
import {machinesOf, servingSituation} from '../../../src/controllers/approval/serving-situation.ts'
import {servingPolicy} from '../../../src/control-plane/serving-policy.ts'
import {withCaller} from '../../../src/csr/user-extra.ts'
import {objections} from '../../../src/csr/opinion.ts'
import {parseCidr} from '../../../src/pki/address-range.ts'
import {SERVING_BASE, machine, type ServingCase} from './serving-case.ts'
import {SERVING_CASES} from './serving-cases.ts'
import {readable, wished} from './support.ts'

const API_SERVER = {
  names: new Set(['cp1', 'api.example.com', '*.apis.example.com', '192.0.2.1', '10.96.0.1']),
  serviceRanges: [parseCidr('10.96.0.0/12')!],
  attests: true,
}

async function opinionOn(
  row: Pick<ServingCase, 'wish' | 'machines' | 'node' | 'others' | 'seenAt' | 'policy'>,
  {deny = false, attests = true} = {},
) {
  const {machines = [machine('test')], node, others = [], seenAt, policy} = row
  const csr = await wished({...SERVING_BASE, ...row.wish})
  csr.spec.extra = withCaller({}, {address: seenAt})
  const requested = readable(csr)
  const book = new AddressBook()
  for (const one of [...others, ...(node ? [node] : [])]) book.addNode(one)
  for (const one of machines) book.addMachine(one)
  const sources = {
    apiServer: () => Promise.resolve({...API_SERVER, attests}),
    findNode: () => Promise.resolve(node),
    machinesOf: (name: string) => Promise.resolve(machinesOf(name, machines)),
    book,
  }
  const situation =
    requested.node === undefined ? undefined : await servingSituation(requested.node, sources)
  return servingOpinion(csr, requested, {situation, policy: servingPolicy({deny, ...policy})})
}

describe('the kubelet-serving approver', () => {
  for (const row of SERVING_CASES) {
    const {name, decision, says} = row
    const verb = {approve: 'approves', hold: 'holds', ignore: 'ignores'}[decision]

    it(`${verb} where ${name}`, async () => {
      const opinion = await opinionOn(row)
      assert.equal(opinion.decision, decision, objections(opinion))
      if (says !== undefined) assert.match(objections(opinion), says)
    })

    if (decision === 'hold') {
      const denied = row.mayBecomeRight ? 'hold' : 'deny'
      it(`with the policy to deny it says ${denied} where ${name}`, async () => {
        assert.equal((await opinionOn(row, {deny: true})).decision, denied)
      })
    }
  }

  const servers = ['api.example.com', 'API.example.com.', 'one.apis.example.com']
  for (const name of servers) {
    it(`never lets a node speak as the API server: ${name}`, async () => {
      const opinion = await opinionOn({
        wish: {names: {dns: [name]}},
        machines: [machine('test', [{type: 'Hostname', address: name}])],
      })
      assert.equal(opinion.decision, 'hold')
      assert.match(objections(opinion), /is the API server's/)
    })
  }

  it('never lets a node that took the name of the API server’s machine speak as that', async () => {
    const user = 'system:node:cp1'
    const opinion = await opinionOn({
      wish: {commonName: user, username: user, names: {dns: ['cp1'], ips: ['192.0.2.1']}},
      machines: [],
      node: {metadata: {name: 'cp1'}},
      seenAt: '192.0.2.1',
    })
    assert.equal(opinion.decision, 'hold')
    assert.match(
      objections(opinion),
      /"cp1" is the API server's; "192\.0\.2\.1" is the API server's/,
    )
  })

  it('looks at no name of a request that holds thousands, whoever vouches for them', async () => {
    const addresses = Array.from({length: 65}, (_, index) => ({
      type: 'InternalDNS',
      address: `n${index}.example.com`,
    }))
    const ask = (count: number) =>
      opinionOn({
        wish: {names: {dns: addresses.slice(0, count).map(({address}) => address)}},
        machines: [machine('test', addresses)],
      })
    assert.equal((await ask(64)).decision, 'approve')
    const opinion = await ask(65)
    assert.equal(opinion.decision, 'hold')
    assert.equal(objections(opinion), 'it asks for 65 names and addresses, more than 64')
    assert.ok(opinion.rules.length < 10)
  })

  it('does not believe the address in the request of a server that does not write it down', async () => {
    const row = SERVING_CASES.find(({seenAt, decision}) => seenAt && decision === 'approve')!
    assert.equal((await opinionOn(row)).decision, 'approve')
    assert.equal((await opinionOn(row, {attests: false})).decision, 'hold')
  })
})
