import assert from 'node:assert/strict'
import {assertContains, lines} from './text.ts'
import {withEveryKubectl} from './versions.ts'

withEveryKubectl('nodes', (context) => {
  const {prefix} = context
  const node = `${prefix}-n1`
  const status = async (): Promise<string> =>
    lines(await context.kubectl.ok(`get node ${node} --no-headers`))[0]?.split(' ')[1] ?? ''

  before(async () => {
    const manifest = {
      apiVersion: 'v1',
      kind: 'Node',
      metadata: {name: node},
      status: {conditions: [{type: 'Ready', status: 'True'}]},
    }
    await context.kubectl.ok('create -f -', {input: JSON.stringify(manifest)})
  })

  it('waits for a condition that is met', async () => {
    const text = await context.kubectl.ok(`wait node/${node} --for=condition=Ready --timeout=10s`)
    assert.equal(text, `node/${node} condition met\n`)
  })

  it('waits in vain for a condition that is not met', async () => {
    const wait = `wait node/${node} --for=condition=DiskPressure --timeout=1s`
    assert.match(await context.kubectl.fails(wait), /timed out waiting for the condition/)
  })

  it('cordons and uncordons', async () => {
    assert.equal(await context.kubectl.ok(`cordon ${node}`), `node/${node} cordoned\n`)
    assert.equal(await status(), 'Ready,SchedulingDisabled')
    assert.equal(await context.kubectl.ok(`uncordon ${node}`), `node/${node} uncordoned\n`)
    assert.equal(await status(), 'Ready')
  })

  it('taints and untaints', async () => {
    const path = '\'jsonpath={.spec.taints[?(@.key=="dedicated")].effect}\''
    await context.kubectl.ok(`taint node ${node} dedicated=db:NoSchedule`)
    assert.equal(await context.kubectl.ok(`get node ${node} -o ${path}`), 'NoSchedule')
    await context.kubectl.ok(`taint node ${node} dedicated:NoSchedule-`)
    assert.equal(await context.kubectl.ok(`get node ${node} -o ${path}`), '')
  })

  it('drains pods away', async () => {
    const pod = {
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: {name: 'guest', ownerReferences: []},
      spec: {nodeName: node, containers: [{name: 'c', image: 'example.test/c'}]},
    }
    await context.kubectl.ok('create -f -', {input: JSON.stringify(pod)})
    assertContains(await context.kubectl.ok(`describe node ${node}`), [`${prefix} guest`])
    // Nothing here ends pods on nodes, so that it must be forced.
    const flags = '--force --disable-eviction --grace-period=0 --ignore-daemonsets --timeout=20s'
    const {code, stdout, stderr} = await context.kubectl.run(`drain ${node} ${flags}`)
    assert.equal(code, 0, stderr)
    assert.match(stdout, new RegExp(`node/${node} (drained|deleted)`))
    assert.match(await context.kubectl.fails('get pod guest'), /pods "guest" not found/)
  })

  it('lists pods by the node they are on', async () => {
    const selector = `--field-selector spec.nodeName=${node},status.phase!=Failed`
    const {code, stderr} = await context.kubectl.run(`get pods ${selector}`)
    assert.equal(code, 0)
    assert.equal(stderr, `No resources found in ${prefix} namespace.\n`)
  })
})
