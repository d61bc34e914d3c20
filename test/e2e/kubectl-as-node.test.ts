import assert from 'node:assert/strict'
import {assertContains, lines} from './text.ts'
import {withEveryKubectl} from './versions.ts'

withEveryKubectl('as a node', (context) => {
  const {prefix} = context
  const node = `${prefix}-m1`
  const other = `${prefix}-m2`
  const asNode = `--as=system:node:${node} --as-group=system:nodes`
  const pod = {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: {name: 'guest'},
    spec: {
      nodeName: node,
      containers: [{name: 'c', image: 'example.test/c'}],
      volumes: [{name: 'v', secret: {secretName: 'key'}}],
    },
  }
  const nodeNamed = (name: string, metadata: object = {}) =>
    JSON.stringify({apiVersion: 'v1', kind: 'Node', metadata: {name, ...metadata}})

  before(async () => {
    await context.kubectl.ok('create secret generic key --from-literal=a=b')
    await context.kubectl.ok('create secret generic foreign --from-literal=a=b')
    await context.kubectl.ok('create -f -', {input: JSON.stringify(pod)})
    await context.kubectl.ok('create -f -', {input: nodeNamed(other)})
  })

  after(async () => {
    await context.kubectl.ok('delete pod guest --force --grace-period=0')
    await context.kubectl.ok(`delete node ${node} ${other} --ignore-not-found`)
  })

  it('registers itself, and labels itself', async () => {
    await context.kubectl.ok(`create ${asNode} -f -`, {input: nodeNamed(node)})
    assertContains(await context.kubectl.ok(`get node ${node} ${asNode}`), [node])
    await context.kubectl.ok(`label node ${node} example.test/x=y ${asNode}`)
  })

  it('reads what its pods need', async () => {
    assert.equal(await context.kubectl.ok(`get secret key -o name ${asNode}`), 'secret/key\n')
    assertContains(
      await context.kubectl.ok(`get pods --field-selector=spec.nodeName=${node} ${asNode}`),
      ['guest'],
    )
  })

  const refusals: [line: string, text: string][] = [
    [
      'get secret foreign',
      `Error from server (Forbidden): secrets "foreign" is forbidden: User "system:node:${node}" cannot get resource "secrets" in API group "" in the namespace "${prefix}": no relationship found between node '${node}' and this object`,
    ],
    [
      'get nodes',
      `Error from server (Forbidden): nodes is forbidden: User "system:node:${node}" cannot list resource "nodes" in API group "" at the cluster scope: node '${node}' cannot read all nodes, only its own Node object`,
    ],
    [
      'get pods -A',
      `Error from server (Forbidden): pods is forbidden: User "system:node:${node}" cannot list resource "pods" in API group "" at the cluster scope: can only list/watch pods with spec.nodeName field selector`,
    ],
    [
      `label node ${node} node-role.kubernetes.io/control-plane=`,
      `Error from server (Forbidden): nodes "${node}" is forbidden: is not allowed to modify labels: node-role.kubernetes.io/control-plane`,
    ],
    [
      `delete node ${node}`,
      `Error from server (Forbidden): nodes "${node}" is forbidden: User "system:node:${node}" cannot delete resource "nodes" in API group "" at the cluster scope`,
    ],
  ]
  for (const [line, text] of refusals) {
    it(`is refused "${line.replaceAll(prefix, '…')}" in the words of Kubernetes`, async () => {
      // kubectl may warn before it tells what the server said.
      assert.equal(lines(await context.kubectl.fails(`${line} ${asNode}`)).at(-1), text)
    })
  }

  it('is refused under the name of another node', async () => {
    const text = await context.kubectl.fails(`create ${asNode} -f -`, {
      input: nodeNamed(`${prefix}-m3`),
    })
    assert.match(text, /is not allowed to modify node "[^"]*-m3"/)
  })

  it('is told what it may by the same rules', async () => {
    assert.equal(await context.kubectl.ok(`auth can-i get secret/key ${asNode}`), 'yes\n')
    const {stdout} = await context.kubectl.run(`auth can-i get secret/foreign ${asNode}`)
    assert.match(stdout, /^no - no relationship found between node/)
    assertContains(await context.kubectl.ok(`auth can-i --list ${asNode}`), [
      'selfsubjectaccessreviews',
    ])
  })
})
