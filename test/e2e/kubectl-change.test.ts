import assert from 'node:assert/strict'
import {writeFile} from 'node:fs/promises'
import {join} from 'node:path'
import {assertContains, assertLines, lines} from './text.ts'
import {withEveryKubectl} from './versions.ts'

const configMap = (name: string, data: Record<string, string>): string =>
  JSON.stringify({apiVersion: 'v1', kind: 'ConfigMap', metadata: {name}, data})

withEveryKubectl('changes', (context) => {
  const {prefix, subresources, version} = context

  const editor = async (script: string): Promise<Record<string, string>> => {
    const path = join(context.home, 'editor.sh')
    await writeFile(path, `#!/bin/sh\n${script}\n`, {mode: 0o700})
    return {KUBE_EDITOR: path}
  }
  const data = async (name: string): Promise<Record<string, string>> =>
    JSON.parse(await context.kubectl.ok(`get cm ${name} -o jsonpath={.data}`)) as Record<
      string,
      string
    >

  it('edits through an editor', async () => {
    await context.kubectl.ok('create configmap e1 --from-literal=colour=red')
    const env = await editor(`sed -i 's/colour: red/colour: blue/' "$1"`)
    assert.equal(await context.kubectl.ok('edit cm e1', {env}), 'configmap/e1 edited\n')
    assert.deepEqual(await data('e1'), {colour: 'blue'})
  })

  it('edits a pod, merging its containers', async () => {
    await context.kubectl.ok('run p1 --image=example.test/p:1')
    const env = await editor(`sed -i 's,example.test/p:1,example.test/p:2,' "$1"`)
    assert.equal(await context.kubectl.ok('edit pod p1', {env}), 'pod/p1 edited\n')
    const image = await context.kubectl.ok('get pod p1 -o jsonpath={.spec.containers[*].image}')
    assert.equal(image, 'example.test/p:2')
  })

  it('leaves what was not edited', async () => {
    const env = await editor('true')
    const {code, stdout, stderr} = await context.kubectl.run('edit cm e1', {env})
    assert.equal(code, 0)
    assert.match(stdout + stderr, /Edit cancelled, no changes made/)
  })

  it('is told why an edit is refused', async () => {
    const env = await editor(`sed -i 's/name: e1/name: e2/' "$1"`)
    const {code, stderr} = await context.kubectl.run('edit cm e1', {env})
    assert.equal(code, 1)
    assert.match(stderr, /may not be changed|does not match|At least one of/)
  })

  it('shows differences without making them', async () => {
    await context.kubectl.ok('apply -f -', {input: configMap('d1', {a: '1'})})
    const same = await context.kubectl.run('diff -f -', {input: configMap('d1', {a: '1'})})
    assert.deepEqual([same.code, same.stdout], [0, ''])

    const other = await context.kubectl.run('diff -f -', {input: configMap('d1', {a: '2'})})
    assert.equal(other.code, 1)
    assertLines(other.stdout, ['- a: "1"', '+ a: "2"'])
    assert.deepEqual(await data('d1'), {a: '1'})

    const absent = await context.kubectl.run('diff -f -', {input: configMap('d2', {a: '1'})})
    assert.equal(absent.code, 1)
    assert.match(absent.stdout, /\+ {2}name: d2/)
  })

  it('shows differences of an apply on the server', async () => {
    const line = 'diff --server-side --field-manager=other --force-conflicts -f -'
    const {code, stdout} = await context.kubectl.run(line, {input: configMap('d1', {a: '3'})})
    assert.equal(code, 1)
    assertLines(stdout, ['- a: "1"', '+ a: "3"'])
  })

  it('applies three ways: removes what it set, keeps what others set', async () => {
    await context.kubectl.ok('apply -f -', {input: configMap('t1', {mine: '1', gone: '1'})})
    await context.kubectl.ok(`patch cm t1 -p '{"data":{"theirs":"1"}}'`)
    const text = await context.kubectl.ok('apply -f -', {input: configMap('t1', {mine: '2'})})
    assert.equal(text, 'configmap/t1 configured\n')
    assert.deepEqual(await data('t1'), {mine: '2', theirs: '1'})
    const last = await context.kubectl.ok('apply view-last-applied cm t1 -o json')
    assert.deepEqual(JSON.parse(last).data, {mine: '2'})
  })

  it('tries an apply on the server', async () => {
    const line = 'apply --dry-run=server -f -'
    const text = await context.kubectl.ok(line, {input: configMap('t1', {mine: '3'})})
    assert.equal(text, 'configmap/t1 configured (server dry run)\n')
    assert.equal((await data('t1')).mine, '2')
  })

  it('is told who owns a field, and takes it over only by force', async () => {
    const apply = 'apply --server-side -f - --field-manager'
    await context.kubectl.ok(`${apply}=first`, {input: configMap('o1', {a: '1', b: '1'})})
    const input = configMap('o1', {a: '2'})
    const errors = await context.kubectl.fails(`${apply}=second`, {input})
    assertContains(errors, ['Apply failed with 1 conflict: conflict with "first": .data.a'])

    await context.kubectl.ok(`${apply}=second --force-conflicts`, {input})
    assert.deepEqual(await data('o1'), {a: '2', b: '1'})
    await context.kubectl.ok(`${apply}=first`, {input: configMap('o1', {})})
    assert.deepEqual(await data('o1'), {a: '2'})
  })

  it('moves from applying in the client to applying on the server', async () => {
    await context.kubectl.ok('apply -f -', {input: configMap('m1', {a: '1', b: '1'})})
    // An old kubectl does not hand over what it owned from the client.
    const force = version === '1.20' ? '--force-conflicts' : ''
    const line = `apply --server-side -f - ${force}`
    const text = await context.kubectl.ok(line, {input: configMap('m1', {a: '2'})})
    assert.equal(text, 'configmap/m1 serverside-applied\n')
    assert.equal((await data('m1')).a, '2')
    if (version !== '1.20') assert.deepEqual(await data('m1'), {a: '2'})
  })

  it('prunes what a file no longer has', async () => {
    const both = ['x1', 'x2'].map((name) => ({
      apiVersion: 'v1',
      kind: 'ConfigMap',
      metadata: {name, labels: {set: prefix}},
      data: {a: '1'},
    }))
    const list = (items: unknown[]) => JSON.stringify({apiVersion: 'v1', kind: 'List', items})
    await context.kubectl.ok('apply -f -', {input: list(both)})
    const line = `apply --prune -l set=${prefix} -f - --prune-whitelist=core/v1/ConfigMap`
    const prune = version === '1.20' ? line : line.replace('whitelist', 'allowlist')
    const text = await context.kubectl.ok(prune, {input: list(both.slice(0, 1))})
    assertLines(text, ['configmap/x1 unchanged', 'configmap/x2 pruned'])
  })

  it('patches by operations, and not where a test among them fails', async () => {
    await context.kubectl.ok('create configmap j1 --from-literal=a=1')
    const good =
      '[{"op":"test","path":"/data/a","value":"1"},{"op":"move","from":"/data/a","path":"/data/b"}]'
    await context.kubectl.ok(`patch cm j1 --type=json -p '${good}'`)
    assert.deepEqual(await data('j1'), {b: '1'})
    const errors = await context.kubectl.fails(`patch cm j1 --type=json -p '${good}'`)
    assert.match(errors, /^The request is invalid/)
  })

  it('says that a patch changed nothing', async () => {
    const text = await context.kubectl.ok(`patch cm j1 --type=merge -p '{"data":{"b":"1"}}'`)
    assert.equal(text, 'configmap/j1 patched (no change)\n')
  })

  if (subresources) {
    it('patches a status alone', async () => {
      const body = '{"metadata":{"labels":{"a":"b"}},"status":{"phase":"Running"}}'
      await context.kubectl.ok(`patch pod p1 --subresource=status --type=merge -p '${body}'`)
      const row = lines(await context.kubectl.ok('get pod p1 --no-headers'))[0]
      assert.match(row ?? '', /^p1 0\/1 Running 0 /)
      const status = await context.kubectl.ok('get pod p1 --subresource=status -o name')
      assert.equal(status, 'pod/p1\n')
    })
  }

  it('may not change what cannot be changed', async () => {
    const errors = await context.kubectl.fails(
      `patch pod p1 -p '{"spec":{"nodeName":"elsewhere"}}'`,
    )
    assertContains(errors, ['The Pod "p1" is invalid: spec: Forbidden: pod updates may not change'])
  })

  it('replaces by deleting first', async () => {
    await context.kubectl.ok('create configmap r1 --from-literal=a=1')
    const path = "get cm r1 -o 'jsonpath={.metadata.uid}'"
    const before = await context.kubectl.ok(path)
    await context.kubectl.ok('replace --force -f -', {input: configMap('r1', {a: '2'})})
    assert.notEqual(await context.kubectl.ok(path), before)
    assert.deepEqual(await data('r1'), {a: '2'})
  })

  it('is told that somebody else was faster', async () => {
    const text = await context.kubectl.ok('get cm r1 -o json')
    await context.kubectl.ok('annotate cm r1 quick=yes')
    const errors = await context.kubectl.fails('replace -f -', {input: text})
    assertContains(errors, ['(Conflict)', 'Operation cannot be fulfilled on configmaps "r1"'])
  })

  it('removes a label and an annotation', async () => {
    await context.kubectl.ok('label cm r1 tier=front')
    const unlabelled = await context.kubectl.ok('label cm r1 tier-')
    assert.match(unlabelled, /^configmap\/r1 (un)?labeled\n$/)
    await context.kubectl.ok('annotate cm r1 quick-')
    const path = "'jsonpath={.metadata.labels}{.metadata.annotations}'"
    assert.doesNotMatch(await context.kubectl.ok(`get cm r1 -o ${path}`), /tier|quick/)
  })
})
