import assert from 'node:assert/strict'
import {LineStream} from '../helpers/line-stream.ts'
import {lines} from './text.ts'
import {withEveryKubectl} from './versions.ts'

const heldConfigMap = (name: string): string =>
  JSON.stringify({
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: {name, finalizers: ['example.test/hold']},
  })

const RELEASE = `--type=merge -p '{"metadata":{"finalizers":null}}'`

withEveryKubectl('deletion', (context) => {
  const {prefix} = context

  it('deletes everything of a kind', async () => {
    await context.kubectl.ok('create secret generic one')
    await context.kubectl.ok('create secret generic two')
    const text = await context.kubectl.ok('delete secrets --all')
    assert.equal(lines(text).length, 2)
    assert.equal(await context.kubectl.ok('get secrets -o name'), '')
  })

  it('prunes the kinds that an apply names, and stops at the first default kind that is not served', async () => {
    const list = (...names: string[]) =>
      JSON.stringify({
        apiVersion: 'v1',
        kind: 'List',
        items: names.map((name) => ({
          apiVersion: 'v1',
          kind: 'ConfigMap',
          metadata: {name, labels: {app: 'pruned'}},
        })),
      })
    const flag = context.version === '1.20' ? '--prune-whitelist' : '--prune-allowlist'
    const prune = `apply --prune -l app=pruned ${flag}=core/v1/ConfigMap -f -`
    await context.kubectl.ok(prune, {input: list('stays', 'goes')})
    await context.kubectl.ok(prune, {input: list('stays')})
    assert.equal(await context.kubectl.ok('get cm -l app=pruned -o name'), 'configmap/stays\n')
    const all = 'apply --prune -l app=pruned -f -'
    assert.match(await context.kubectl.fails(all, {input: list('stays')}), /no matches for kind/)
  })

  it('is told that there is nothing to delete', async () => {
    assert.match(await context.kubectl.fails('delete cm nothing'), /"nothing" not found/)
    assert.equal(await context.kubectl.ok('delete cm nothing --ignore-not-found'), '')
  })

  it('tries a deletion on the server', async () => {
    await context.kubectl.ok('create secret generic kept')
    const text = await context.kubectl.ok('delete secret kept --dry-run=server')
    assert.match(text, /^secret "kept" deleted .*\(server dry run\)/)
    assert.equal(await context.kubectl.ok('get secret kept -o name'), 'secret/kept\n')
  })

  it('waits for an object that a finalizer holds', async () => {
    await context.kubectl.ok('create -f -', {input: heldConfigMap('held')})
    await context.kubectl.ok('delete cm held --wait=false')
    const path = "'jsonpath={.metadata.deletionTimestamp}'"
    assert.match(await context.kubectl.ok(`get cm held -o ${path}`), /^\d{4}-.*Z$/)

    const early = await context.kubectl.fails('wait cm/held --for=delete --timeout=1s')
    assert.match(early, /timed out waiting for the condition/)
    const child = context.kubectl.watchOne('cm', 'held', '--output-watch-events')
    const stream = new LineStream(child)
    try {
      await stream.until((seen) => seen.length === 1)
      await context.kubectl.ok(`patch cm held ${RELEASE}`)
      await stream.until((seen) => seen.some((line) => /^DELETED\s+held/.test(line)))
    } finally {
      await stream.stop()
    }
    assert.match(await context.kubectl.fails('get cm held'), /"held" not found/)
  })

  it('empties a namespace before it is gone', async () => {
    const name = `${prefix}-full`
    const kubectl = context.kubectl.in(name)
    await kubectl.ok(`create namespace ${name}`)
    await kubectl.ok('create configmap inside')
    await kubectl.ok('create role inside --verb=get --resource=pods')
    await kubectl.ok('create -f -', {input: heldConfigMap('last')})
    await kubectl.ok(`delete namespace ${name} --wait=false`)
    const refused = await kubectl.fails('create configmap late')
    assert.match(refused, /because it is being terminated/)
    assert.equal(await kubectl.ok(`get ns ${name} -o jsonpath={.status.phase}`), 'Terminating')

    await kubectl.ok(`patch cm last ${RELEASE}`)
    await context.kubectl.run(`wait ns/${name} --for=delete --timeout=20s`)
    assert.match(await context.kubectl.fails(`get ns ${name}`), /not found/)
    assert.equal(await kubectl.ok('get cm,roles -o name'), '')
  })

  it('may not delete the namespaces that everything needs', async () => {
    const errors = await context.kubectl.fails('delete namespace kube-system')
    assert.match(errors, /\(Forbidden\): .*this namespace may not be deleted/)
  })
})
