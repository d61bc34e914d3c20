import assert from 'node:assert/strict'
import {forbiddenChanges} from '../../../../src/server/admission/node-restriction/nodes.ts'
import {assertRefused, make, setStage, type Stage} from './support.ts'

const NODES = '/api/v1/nodes'

describe('NodeRestriction, of nodes', () => {
  let stage: Stage

  before(async () => {
    stage = await setStage()
    await stage.admin.patch(`${NODES}/mynode`, {
      metadata: {
        labels: {
          'node-role.kubernetes.io/worker': '',
          'node-restriction.kubernetes.io/tier': 'low',
        },
      },
      spec: {taints: [{key: 'dedicated', value: '', effect: 'NoSchedule'}]},
    })
  })

  after(() => stage.stop())

  const newcomer = (changes: object = {}) => ({
    metadata: {name: 'newcomer'},
    ...changes,
  })
  const asNewcomer = () => stage.admin.as('system:node:newcomer', 'system:nodes')

  it('lets a node register itself, with taints and the labels that describe it', async () => {
    await make(
      asNewcomer(),
      `${NODES}?dryRun=All`,
      newcomer({
        metadata: {
          name: 'newcomer',
          labels: {
            'kubernetes.io/hostname': 'newcomer',
            'beta.kubernetes.io/os': 'linux',
            'topology.kubernetes.io/zone': 'z',
            'node.kubernetes.io/instance-type': 'big',
            'kubelet.kubernetes.io/anything': 'x',
            'example.com/anything': 'x',
            plain: 'x',
          },
        },
        spec: {taints: [{key: 'k', effect: 'NoExecute'}]},
      }),
    )
  })

  it('refuses to register labels by which workloads are placed, naming them all', async () => {
    const labels = {
      'node-role.kubernetes.io/control-plane': '',
      'node-restriction.kubernetes.io/tier': 'high',
      'kubernetes.io/hostname': 'newcomer',
    }
    assertRefused(
      await asNewcomer().post(NODES, newcomer({metadata: {name: 'newcomer', labels}})),
      'node "newcomer" is not allowed to set the following labels: node-restriction.kubernetes.io/tier, node-role.kubernetes.io/control-plane',
    )
  })

  it('refuses to register with an owner, by which a node could have itself deleted', async () => {
    const ownerReferences = [{apiVersion: 'v1', kind: 'Node', name: 'gone', uid: 'gone'}]
    assertRefused(
      await asNewcomer().post(NODES, newcomer({metadata: {name: 'newcomer', ownerReferences}})),
      'node "newcomer" is not allowed to set ownerReferences',
    )
  })

  it('refuses to register with a configuration from elsewhere', async () => {
    const spec = {configSource: {configMap: {namespace: 'a', name: 'b', kubeletConfigKey: 'c'}}}
    assertRefused(
      await asNewcomer().post(NODES, newcomer({spec})),
      'node "newcomer" is not allowed to create pods with a non-nil configSource',
    )
  })

  it('refuses to register without a name, or under that of another node', async () => {
    assertRefused(
      await asNewcomer().post(NODES, {metadata: {generateName: 'new'}}),
      'node "newcomer" is not allowed to modify node ""',
    )
    assertRefused(
      await asNewcomer().post(NODES, {metadata: {name: 'mynode'}}),
      'node "newcomer" is not allowed to modify node "mynode"',
    )
    assertRefused(
      await asNewcomer().patch(
        `${NODES}/other-newcomer?fieldManager=x`,
        {apiVersion: 'v1', kind: 'Node', metadata: {name: 'other-newcomer'}},
        'apply',
      ),
      'node "newcomer" is not allowed to modify node "other-newcomer"',
    )
  })

  it('refuses a user that is a node without a name', async () => {
    const nobody = stage.admin.as('system:node:', 'system:nodes')
    assert.equal((await nobody.post(NODES, {metadata: {name: 'x'}})).status, 403)
    assert.equal((await nobody.get(`${NODES}/mynode`)).status, 403)
  })

  const taints = 'node "mynode" is not allowed to modify taints'
  const updates: [name: string, change: object, why: string][] = [
    ['its taints away', {spec: {taints: null}}, taints],
    [
      'another taint',
      {
        spec: {
          taints: [
            {key: 'dedicated', effect: 'NoSchedule'},
            {key: 'more', effect: 'NoSchedule'},
          ],
        },
      },
      taints,
    ],
    [
      'an owner',
      {metadata: {ownerReferences: [{apiVersion: 'v1', kind: 'Node', name: 'gone', uid: 'gone'}]}},
      'node "mynode" is not allowed to modify ownerReferences',
    ],
    [
      'labels of others',
      {
        metadata: {
          labels: {
            'node-role.kubernetes.io/worker': null,
            'node-restriction.kubernetes.io/tier': 'high',
            'x.k8s.io/new': 'y',
          },
        },
      },
      'is not allowed to modify labels: node-restriction.kubernetes.io/tier, node-role.kubernetes.io/worker, x.k8s.io/new',
    ],
    [
      'a configuration from elsewhere',
      {spec: {configSource: {configMap: {namespace: 'a', name: 'b', kubeletConfigKey: 'c'}}}},
      'node "mynode" is not allowed to update configSource to a new non-nil configSource',
    ],
  ]
  for (const [name, change, why] of updates) {
    for (const path of [`${NODES}/mynode`, `${NODES}/mynode/status`]) {
      it(`refuses to write ${name} through ${path}`, async () => {
        assertRefused(await stage.node.patch(path, change), why)
      })
    }
  }

  it('refuses to write another node, its status too', async () => {
    const why = 'node "mynode" is not allowed to modify node "othernode"'
    const labels = {metadata: {labels: {a: 'b'}}}
    assertRefused(await stage.node.patch(`${NODES}/othernode`, labels), why)
    assertRefused(await stage.node.patch(`${NODES}/othernode/status`, labels), why)
  })

  it('lets a node write what it has read, and its own labels and status', async () => {
    const {body} = await stage.node.get(`${NODES}/mynode`)
    // Go clients leave out what is empty.
    body.spec.taints = [{key: 'dedicated', effect: 'NoSchedule'}]
    body.status = {...body.status, conditions: [{type: 'Ready', status: 'True'}]}
    assert.equal((await stage.node.put(`${NODES}/mynode/status`, body)).status, 200)
    const labels = {'kubernetes.io/arch': 'arm64', 'example.com/x': 'y'}
    const {status, body: written} = await stage.node.patch(`${NODES}/mynode`, {metadata: {labels}})
    assert.equal(status, 200)
    assert.equal(written.metadata.labels?.['kubernetes.io/arch'], 'arm64')
  })

  it('refuses the deletion of a node even if a role gives the right', async () => {
    const rbac = '/apis/rbac.authorization.k8s.io/v1'
    await make(stage.admin, `${rbac}/clusterroles`, {
      metadata: {name: 'delete-nodes'},
      rules: [{apiGroups: [''], resources: ['nodes'], verbs: ['delete']}],
    })
    await make(stage.admin, `${rbac}/clusterrolebindings`, {
      metadata: {name: 'delete-nodes'},
      roleRef: {kind: 'ClusterRole', name: 'delete-nodes'},
      subjects: [{kind: 'Group', name: 'system:nodes'}],
    })
    assertRefused(
      await stage.node.delete(`${NODES}/othernode`),
      'node "mynode" is not allowed to modify node "othernode"',
    )
  })
})

describe('forbiddenChanges', () => {
  const labels: [label: string, forbidden: boolean][] = [
    ['plain', false],
    ['example.com/x', false],
    ['notkubernetes.io/x', false],
    ['kubernetes.io.example.com/x', false],
    ['kubernetes.io/hostname', false],
    ['kubernetes.io/os', false],
    ['kubernetes.io/arch', false],
    ['beta.kubernetes.io/arch', false],
    ['beta.kubernetes.io/instance-type', false],
    ['node.kubernetes.io/instance-type', false],
    ['node.kubernetes.io/other', false],
    ['sub.node.kubernetes.io/other', false],
    ['kubelet.kubernetes.io/other', false],
    ['sub.kubelet.kubernetes.io/other', false],
    ['topology.kubernetes.io/zone', false],
    ['topology.kubernetes.io/region', false],
    ['failure-domain.beta.kubernetes.io/zone', false],
    ['failure-domain.beta.kubernetes.io/region', false],
    ['kubernetes.io/other', true],
    ['k8s.io/other', true],
    ['sub.k8s.io/other', true],
    ['topology.kubernetes.io/rack', true],
    ['node-role.kubernetes.io/control-plane', true],
    ['node-restriction.kubernetes.io/x', true],
    ['sub.node-restriction.kubernetes.io/x', true],
  ]
  for (const [label, forbidden] of labels) {
    it(`${forbidden ? 'forbids' : 'leaves free'} ${label}`, () => {
      const expected = forbidden ? [label] : []
      assert.deepEqual(forbiddenChanges({[label]: 'a'}, {}), expected)
      assert.deepEqual(forbiddenChanges({}, {[label]: 'a'}), expected)
      assert.deepEqual(forbiddenChanges({[label]: 'a'}, {[label]: 'b'}), expected)
      assert.deepEqual(forbiddenChanges({[label]: 'a'}, {[label]: 'a'}), [])
    })
  }
})
