import assert from 'node:assert/strict'
import {readFile, readdir} from 'node:fs/promises'
import {join} from 'node:path'
import type {ApiObject} from '../../src/api/meta.ts'
import type {ApiClient} from '../../src/client/api-client.ts'
import {connect} from '../../src/client/connect.ts'
import {clientRequest} from '../../src/node/client-certificate.ts'
import {whoAmI} from '../../src/node/acceptance.ts'
import type {JoinResult} from '../../src/node/describe-node.ts'
import {TrustError} from '../../src/errors.ts'
import {parseCertificate} from '../../src/pki/certificate.ts'
import {generateKeys} from '../../src/pki/keys.ts'
import {pinOf} from '../../src/pki/pins.ts'
import {DISCOVERY_METHODS, joinFixture, joinedBy, type JoinFixture} from '../helpers/joining.ts'

const MACHINES = 20
const nameOf = (number: number) => `machine-${number}`
const otherOf = (number: number) => nameOf((number + 1) % MACHINES)

interface Request {
  what: string
  /** What a node sends, and about which other node where that matters. */
  send: (client: ApiClient, own: string, other: string) => Promise<unknown>
}

const csrFor = async (node: string, name: string) => {
  const csr = await clientRequest(node, await generateKeys())
  return {...csr, metadata: {name}}
}
const lease = (namespace: string, name: string) => ({
  metadata: {namespace, name},
  spec: {holderIdentity: name},
})
const labelled = {metadata: {labels: {seen: 'true'}}}
const ready = {status: {conditions: [{type: 'Ready', status: 'True'}]}}
const access = (own: string) => ({
  metadata: {} as ApiObject['metadata'],
  spec: {user: own, resourceAttributes: {verb: 'get', resource: 'nodes'}},
})

const ALLOWED: Request[] = [
  {what: 'reads its own Node', send: ({nodes}, own) => nodes.get(own)},
  {
    what: 'labels its own Node',
    send: ({nodes}, own) => nodes.patch(own, labelled, {type: 'merge'}),
  },
  {
    what: 'tells the state of its own Node',
    send: ({nodes}, own) => nodes.patch(own, ready, {type: 'strategic', subresource: 'status'}),
  },
  {
    what: 'makes its own lease',
    send: ({leases}, own) => leases.create(lease('kube-node-lease', own)),
  },
  {
    what: 'asks for its next certificate',
    send: async ({csrs}, own) => csrs.create(await csrFor(own, `next-${own}`)),
  },
  {
    what: 'asks who may do what, for its own callers',
    send: ({subjectAccessReviews}, own) => subjectAccessReviews.create(access(own)),
  },
  {what: 'lists services', send: ({services}) => services.list()},
  {
    what: "reads the kubelets' configuration",
    send: ({configMaps}) => configMaps.get('kube-system/kubelet-config'),
  },
]

const REFUSED: Request[] = [
  {what: "reads another's Node", send: ({nodes}, _own, other) => nodes.get(other)},
  {what: 'lists all Nodes', send: ({nodes}) => nodes.list()},
  {
    what: "changes another's Node",
    send: ({nodes}, _own, other) => nodes.patch(other, labelled, {type: 'merge'}),
  },
  {
    what: "tells the state of another's Node",
    send: ({nodes}, _own, other) =>
      nodes.patch(other, ready, {type: 'strategic', subresource: 'status'}),
  },
  {
    what: 'makes a Node of another name',
    send: ({nodes}, own) => nodes.create({metadata: {name: `not-${own}`}}),
  },
  {what: 'deletes its own Node', send: ({nodes}, own) => nodes.delete(own)},
  {
    what: 'makes itself part of the control plane',
    send: ({nodes}, own) => {
      const labels = {'node-role.kubernetes.io/control-plane': ''}
      return nodes.patch(own, {metadata: {labels}}, {type: 'merge'})
    },
  },
  {
    what: 'changes its own taints',
    send: ({nodes}, own) => {
      const taints = [{key: 'dedicated', value: 'me', effect: 'NoSchedule'}]
      return nodes.patch(own, {spec: {taints}}, {type: 'merge'})
    },
  },
  {
    what: "makes another's lease",
    send: ({leases}, _own, other) => leases.create(lease('kube-node-lease', other)),
  },
  {
    what: 'takes over who holds a name',
    send: ({configMaps}, own) =>
      configMaps.create({
        metadata: {namespace: 'trustadm-system', name: `trustadm-node.not-${own}`},
      }),
  },
  {
    what: "asks for another's certificate",
    send: async ({csrs}, own, other) => csrs.create(await csrFor(other, `stolen-by-${own}`)),
  },
  {
    what: 'approves its own request',
    send: async ({csrs}, own) => {
      const csr = await csrs.get(`next-${own}`)
      const conditions = [{type: 'Approved', status: 'True' as const, reason: 'Me'}]
      return await csrs.updateSubresource('approval', {...csr, status: {conditions}})
    },
  },
  {what: 'lists all secrets', send: ({secrets}) => secrets.list()},
  {
    what: 'reads the bootstrap tokens',
    send: ({secrets}) => secrets.list({namespace: 'kube-system'}),
  },
  {
    what: 'makes a bootstrap token',
    send: ({secrets}, own) =>
      secrets.create({metadata: {namespace: 'kube-system', name: `bootstrap-token-${own}`}}),
  },
  {
    what: 'changes cluster-info',
    send: ({configMaps}) =>
      configMaps.patch('kube-public/cluster-info', {data: {kubeconfig: ''}}, {type: 'merge'}),
  },
  {what: 'lists cluster roles', send: ({clusterRoles}) => clusterRoles.list()},
  {
    what: 'makes itself an administrator',
    send: ({clusterRoleBindings}, own) =>
      clusterRoleBindings.create({
        metadata: {name: `rise-of-${own}`},
        roleRef: {
          apiGroup: 'rbac.authorization.k8s.io',
          kind: 'ClusterRole',
          name: 'cluster-admin',
        },
        subjects: [{kind: 'User', name: `system:node:${own}`}],
      }),
  },
]

describe(`${MACHINES} machines that join side by side`, function () {
  this.timeout(120_000)
  let fixture: JoinFixture
  let joined: JoinResult[] = []
  const clients: ApiClient[] = []

  before(async () => {
    fixture = await joinFixture()
    joined = await Promise.all(
      Array.from({length: MACHINES}, (_, number) => {
        const method = DISCOVERY_METHODS[number % DISCOVERY_METHODS.length] ?? 'token'
        return joinedBy(fixture, method, nameOf(number))
      }),
    )
    for (const {kubeconfig} of joined) clients.push(await connect(kubeconfig ?? ''))
  })

  after(async () => {
    await Promise.all(clients.map((client) => client.close()))
    await fixture.remove()
  })

  const ofEach = (work: (client: ApiClient, number: number) => Promise<void>) =>
    Promise.all(clients.map(work))

  it('each get the certificate of their own name, for a key of their own', async () => {
    const pins = await Promise.all(
      joined.map(async ({certificate, notAfter}, number) => {
        const leaf = parseCertificate(await readFile(certificate ?? '', 'utf8'))
        assert.equal(leaf.subject.commonName, `system:node:${nameOf(number)}`)
        assert.deepEqual(leaf.subject.organizations, ['system:nodes'])
        assert.equal(leaf.notAfter.getTime(), Date.parse(notAfter ?? ''))
        return pinOf(leaf)
      }),
    )
    assert.equal(new Set(pins).size, MACHINES)
  })

  it('are each known to the server as that node', async () => {
    await ofEach(async (client, number) => {
      assert.equal(await whoAmI(client), `system:node:${nameOf(number)}`)
    })
  })

  it('are all registered', async () => {
    const admin = await connect(fixture.made.kubeconfig)
    const {items} = await admin.nodes.list()
    await admin.close()
    assert.deepEqual(
      items.map(({metadata}) => metadata.name).sort(),
      Array.from({length: MACHINES}, (_, number) => nameOf(number)).sort(),
    )
  })

  it('keep no token and no unfinished key', async () => {
    const [, secret = ''] = fixture.made.token.split('.')
    for (let number = 0; number < MACHINES; number += 1) {
      const dir = fixture.nodeDir(nameOf(number))
      const names = await readdir(dir, {recursive: true, withFileTypes: true})
      for (const entry of names.filter((one) => one.isFile())) {
        assert.doesNotMatch(entry.name, /bootstrap|\.tmp$/)
        const text = await readFile(join(entry.parentPath, entry.name), 'utf8')
        assert.equal(text.includes(secret), false, entry.name)
      }
    }
  })

  for (const {what, send} of ALLOWED) {
    it(`may do what a node does: each ${what}`, async () => {
      await ofEach(async (client, number) => {
        await send(client, nameOf(number), otherOf(number))
      })
    })
  }

  for (const {what, send} of REFUSED) {
    it(`may do no more: none ${what}`, async () => {
      await ofEach(async (client, number) => {
        await assert.rejects(
          send(client, nameOf(number), otherOf(number)),
          (error: unknown) => error instanceof TrustError && error.code === 'FORBIDDEN',
        )
      })
    })
  }
})
