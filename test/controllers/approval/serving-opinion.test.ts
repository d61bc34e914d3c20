import assert from 'node:assert/strict'
import type {Node} from '../../../src/api/node.ts'
import {AddressBook} from '../../../src/controllers/approval/address-book.ts'
import {servingOpinion} from '../../../src/controllers/approval/serving-opinion.ts'
import {
  machinesOf,
  servingSituation,
  type NameGiven,
} from '../../../src/controllers/approval/serving-situation.ts'
import {servingPolicy} from '../../../src/control-plane/serving-policy.ts'
import {withCaller} from '../../../src/csr/user-extra.ts'
import {objections, type Unknown} from '../../../src/csr/opinion.ts'
import {parseCidr} from '../../../src/pki/address-range.ts'
import {SERVING_BASE, machine, type ServingCase} from './serving-case.ts'
import {SERVING_CASES} from './serving-cases.ts'
import {readable, wished} from './support.ts'

const API_SERVER = {
  names: new Set([
    ...['cp1', 'api.example.com', '*.apis.example.com', '192.0.2.1', '10.96.0.1'],
    ...['192.0.2.2', '192.0.2.3'],
  ]),
  endpoints: new Set(['192.0.2.1', '192.0.2.2']),
  shared: 'api.example.com',
  serviceRanges: [parseCidr('10.96.0.0/12')!],
  attests: true,
}

async function opinionOn(
  row: Pick<ServingCase, 'wish' | 'machines' | 'node' | 'others' | 'seenAt' | 'policy'> & {
    given?: NameGiven | Unknown
  },
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
    given: () => Promise.resolve(row.given ?? {requester: undefined, givenAt: undefined}),
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

  describe('for a node of the control plane', () => {
    const controlPlane = (name: string, addresses: string[], labels = true): Node => ({
      metadata: {name, labels: labels ? {'node-role.kubernetes.io/control-plane': ''} : {}},
      status: {addresses: addresses.map((address) => ({type: 'InternalIP', address}))},
    })
    const asks = (name: string, {dns = [name], ips}: {dns?: string[]; ips?: string[]}) => ({
      commonName: `system:node:${name}`,
      username: `system:node:${name}`,
      names: {dns, ...(ips && {ips})},
    })
    const rows: [string, Parameters<typeof opinionOn>[0], true | RegExp][] = [
      [
        'its own name and address, which the EndpointSlice has',
        {wish: asks('cp1', {ips: ['192.0.2.1']}), node: controlPlane('cp1', ['192.0.2.1'])},
        true,
      ],
      [
        'the same without the label',
        {wish: asks('cp1', {ips: ['192.0.2.1']}), node: controlPlane('cp1', ['192.0.2.1'], false)},
        /"cp1" is the API server's; "192\.0\.2\.1" is the API server's/,
      ],
      [
        'an address of the API server that the EndpointSlice does not have',
        {wish: asks('cp1', {ips: ['192.0.2.3']}), node: controlPlane('cp1', ['192.0.2.3'])},
        /"192\.0\.2\.3" is the API server's, and the EndpointSlice default\/kubernetes has no address that node "cp1" has registered/,
      ],
      [
        'such an address besides its own',
        {
          wish: asks('cp1', {ips: ['192.0.2.1', '192.0.2.3']}),
          node: controlPlane('cp1', ['192.0.2.1', '192.0.2.3']),
        },
        /^"192\.0\.2\.3" is the API server's/,
      ],
      [
        'the address of another API server, which it has not registered',
        {
          wish: asks('cp1', {ips: ['192.0.2.1', '192.0.2.2']}),
          node: controlPlane('cp1', ['192.0.2.1']),
        },
        /^"192\.0\.2\.2" is the API server's/,
      ],
      [
        'the address of another API server, which both have registered',
        {
          wish: asks('cp1', {ips: ['192.0.2.1', '192.0.2.2']}),
          node: controlPlane('cp1', ['192.0.2.1', '192.0.2.2']),
          others: [controlPlane('cp2', ['192.0.2.2'])],
        },
        /^"192\.0\.2\.2" is also that of Node "cp2"$/,
      ],
      [
        'the name of the control-plane endpoint',
        {
          wish: asks('cp1', {dns: ['cp1', 'api.example.com']}),
          node: controlPlane('cp1', ['192.0.2.1', 'api.example.com']),
        },
        /^"api\.example\.com" is the API server's/,
      ],
      [
        'that name as its own',
        {
          wish: asks('api.example.com', {}),
          node: controlPlane('api.example.com', ['192.0.2.1']),
        },
        /^"api\.example\.com" is the API server's/,
      ],
      [
        'an address as its name',
        {
          wish: asks('192.0.2.2', {ips: ['192.0.2.2'], dns: []}),
          node: controlPlane('192.0.2.2', ['192.0.2.1']),
        },
        /^"192\.0\.2\.2" is the API server's/,
      ],
      [
        'the address of the Service, and its name',
        {
          wish: asks('cp1', {dns: ['cp1', 'kubernetes'], ips: ['10.96.0.1']}),
          node: controlPlane('cp1', ['192.0.2.1', '10.96.0.1', 'kubernetes']),
        },
        /"kubernetes" is the name of a service.*"10\.96\.0\.1" is in the service range/,
      ],
      [
        'its own address, which its Machine does not have',
        {
          wish: asks('cp1', {ips: ['192.0.2.1']}),
          node: controlPlane('cp1', ['192.0.2.1']),
          machines: [machine('cp1', [])],
        },
        /"192\.0\.2\.1" is not registered by Machine/,
      ],
    ]
    for (const [what, row, outcome] of rows) {
      it(`${outcome === true ? 'approves' : 'holds'} ${what}`, async () => {
        // A server of Kubernetes' own.
        const opinion = await opinionOn({machines: [], ...row}, {attests: false})
        assert.equal(opinion.decision, outcome === true ? 'approve' : 'hold', objections(opinion))
        if (outcome !== true) assert.match(objections(opinion), outcome)
      })
    }

    describe('whose name was given to somebody with a token', () => {
      const requester = 'system:bootstrap:abcdef'
      const registered = controlPlane('cp1', ['192.0.2.1'])
      registered.metadata.creationTimestamp = '2026-01-01T12:00:00Z'
      const at = (time: string): NameGiven => ({
        requester,
        givenAt: new Date(`2026-01-01T${time}Z`),
      })
      const judge = (
        row: Partial<Parameters<typeof opinionOn>[0]>,
        options: Parameters<typeof opinionOn>[1] = {},
      ) =>
        opinionOn(
          {
            machines: [],
            node: registered,
            wish: asks('cp1', {ips: ['192.0.2.1']}),
            given: at('12:00:01'),
            ...row,
          },
          {attests: false, ...options},
        )
      const SAYS =
        'the name "cp1" was given to "system:bootstrap:abcdef" at 2026-01-01T12:00:01Z, after the Node was registered at 2026-01-01T12:00:00Z: it may have been taken over; "trustadm node history cp1" shows how'

      it('approves if that was its join, before the Node was registered', async () => {
        const {decision, rules} = await judge({given: at('12:00:00')})
        assert.equal(decision, 'approve')
        assert.equal(
          rules.find(({code}) => code === 'name-kept')?.reason,
          'the name "cp1" was given to "system:bootstrap:abcdef" at 2026-01-01T12:00:00Z, before the Node was registered',
        )
      })

      for (const names of [
        {dns: ['cp1'], ips: []},
        {dns: [], ips: ['192.0.2.1']},
      ]) {
        it(`leaves ${JSON.stringify(names)} to a person if it was after that, whatever the policy denies`, async () => {
          for (const deny of [false, true]) {
            const opinion = await judge({wish: asks('cp1', names)}, {deny})
            assert.equal(opinion.decision, 'hold')
            assert.equal(objections(opinion), SAYS)
          }
        })
      }

      it('does so also where a Machine vouches for the address', async () => {
        const vouching = machine('cp1', [{type: 'InternalIP', address: '192.0.2.1'}])
        const wish = asks('cp1', {dns: [], ips: ['192.0.2.1']})
        assert.equal(objections(await judge({machines: [vouching], wish})), SAYS)
        const earlier = await judge({machines: [vouching], wish, given: at('12:00:00')})
        assert.equal(earlier.decision, 'approve', objections(earlier))
      })

      it('denies what is wrong besides, by the policy', async () => {
        const wish = asks('cp1', {dns: ['cp1', 'evil'], ips: ['192.0.2.1']})
        assert.equal((await judge({wish}, {deny: true})).decision, 'deny')
      })

      it('holds if it is not known when the Node was registered', async () => {
        const opinion = await judge({node: controlPlane('cp1', ['192.0.2.1'])})
        assert.equal(opinion.decision, 'hold')
        assert.match(objections(opinion), /and it is not known when the Node was registered/)
      })

      it('holds while it is not known to whom the name was given', async () => {
        const opinion = await judge({given: {unknown: 'forbidden'}}, {deny: true})
        assert.equal(opinion.decision, 'hold')
        assert.equal(objections(opinion), 'not known: forbidden')
      })

      it('is approved for names that are not the API server’s', async () => {
        const worker = controlPlane('w1', ['192.0.2.1'])
        worker.metadata.creationTimestamp = '2026-01-01T12:00:00Z'
        const opinion = await judge({node: worker, wish: asks('w1', {})})
        assert.equal(opinion.decision, 'approve', objections(opinion))
      })
    })

    it('shows by what it approves', async () => {
      const [, row] = rows[0] ?? assert.fail()
      const {rules} = await opinionOn({machines: [], ...row}, {attests: false})
      assert.equal(
        rules.find(({code, reason}) => code === 'owned-by-node' && reason.includes('192.0'))
          ?.reason,
        '"192.0.2.1" is in the EndpointSlice default/kubernetes, and node "cp1" is of the control plane and has registered it',
      )
    })
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
