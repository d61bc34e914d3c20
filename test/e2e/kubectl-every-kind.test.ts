import assert from 'node:assert/strict'
import {LineStream} from '../helpers/line-stream.ts'
import {inParallel} from '../helpers/in-parallel.ts'
import {everySample} from './samples/index.ts'
import {asList, manifestsOf, nameOf, renamed, type Sample} from './samples/sample.ts'
import {assertContains, assertLines, lines, pattern} from './text.ts'
import {withEveryKubectl} from './versions.ts'

// The tests follow the life of one object of every kind, from creation to deletion.
withEveryKubectl('every kind', (context) => {
  const {prefix, waitsForPath} = context
  let samples: Sample[]
  let all: string
  let kinds: string

  const names = (): string[] => samples.map((sample) => `${sample.said}/${nameOf(sample)}`)
  const said = (what: string, suffix = ''): string[] =>
    samples.map((sample) => `${sample.said}/${nameOf(sample)}${suffix} ${what}`)

  before(async () => {
    samples = await everySample(prefix)
    all = manifestsOf(samples)
    kinds = samples.map(({plural}) => plural).join(',')
  })

  it('creates', async () => {
    assertLines(await context.kubectl.ok('create -f -', {input: all}), said('created'))
  })

  it('is told what exists already', async () => {
    const errors = await context.kubectl.fails('create -f -', {input: all})
    for (const sample of samples) {
      assert.match(errors, new RegExp(`\\(AlreadyExists\\).* "${nameOf(sample)}" already exists`))
    }
  })

  it('refuses a field that the kind does not have', async () => {
    const wrong = samples.map((sample) => ({...renamed(sample, '-wrong'), nonsense: true}))
    const errors = await context.kubectl.fails('create -f -', {input: asList(wrong)})
    assert.equal(errors.match(/unknown field "(\S+\.)?nonsense"/g)?.length, samples.length, errors)
  })

  it('gets a table with the columns of the kind', async () => {
    await inParallel(samples, async (sample) => {
      const text = await context.kubectl.ok(`get ${sample.plural} ${nameOf(sample)} -o wide`)
      const [header, row, ...rest] = lines(text)
      assert.equal(header, sample.wide.header)
      assert.match(row ?? '', pattern(sample.wide.row))
      assert.deepEqual(rest, [])
    })
  })

  it('lists by label', async () => {
    const text = await context.kubectl.ok(`get ${kinds} -l suite=samples -o name`)
    assert.deepEqual(lines(text), names())
  })

  it('describes', async () => {
    const text = await context.kubectl.ok('describe -f -', {input: all})
    const described = text.split(/^(?=Name:)/m).slice(-samples.length)
    for (const [index, sample] of samples.entries()) {
      assertContains(described[index] ?? '', sample.describes)
    }
  })

  it('labels, and refuses to overwrite unasked', async () => {
    const labelled = await context.kubectl.ok('label -f - step=one', {input: all})
    assertLines(labelled, said('labeled'))
    const {code, stderr} = await context.kubectl.run('label -f - step=two', {input: all})
    assert.equal(code, 1)
    assert.match(stderr, /already has a value \(one\), and --overwrite is false/)
  })

  it('annotates', async () => {
    const text = await context.kubectl.ok('annotate -f - note=seen', {input: all})
    // 1.20 already says so of every kind; newer ones did not change the word.
    assertLines(text, said('annotated'))
  })

  it('patches as the kind allows', async () => {
    await inParallel(samples, async (sample) => {
      const {type, body, path, shows} = sample.patch
      const target = `${sample.plural} ${nameOf(sample)}`
      const patch = `patch ${target} --type=${type} -p '${JSON.stringify(body)}'`
      assert.equal(await context.kubectl.ok(`${patch} -o 'jsonpath=${path}'`), shows, target)
    })
  })

  it('watches changes', async () => {
    const watches = samples.map((sample) => ({
      sample,
      stream: new LineStream(
        context.kubectl.watchOne(sample.plural, nameOf(sample), '--show-labels'),
      ),
    }))
    try {
      await Promise.all(
        watches.map(({stream}) =>
          stream.until((seen) => seen.some((row) => row.includes('step=one'))),
        ),
      )
      await context.kubectl.ok('label -f - step=three --overwrite', {input: all})
      await Promise.all(
        watches.map(({stream}) =>
          stream.until((seen) => seen.some((row) => row.includes('step=three'))),
        ),
      )
    } finally {
      await Promise.all(watches.map(({stream}) => stream.stop()))
    }
  })

  it('replaces', async () => {
    const changed = samples.map(({manifest, patch, plural}) => ({
      ...manifest,
      // A claim that is bound to a volume stays so.
      ...(plural === 'persistentvolumeclaims' && patch.type === 'strategic'
        ? {spec: {...(manifest.spec as object), volumeName: 'volume-7'}}
        : {}),
      metadata: {...manifest.metadata, labels: {...manifest.metadata.labels, step: 'four'}},
    }))
    const replaceable = changed.filter(({kind}) => kind !== 'Lease' && kind !== 'Pod')
    const text = await context.kubectl.ok('replace -f -', {input: asList(replaceable)})
    assert.equal(lines(text).length, replaceable.length)
    for (const line of lines(text)) assert.match(line, / replaced$/)
  })

  it('applies from the client: created, unchanged, configured', async () => {
    const manifests = samples.map((sample) => renamed(sample, '-applied'))
    const input = asList(manifests)
    const changed = asList(
      manifests.map((manifest) => ({
        ...manifest,
        metadata: {...manifest.metadata, annotations: {round: 'two'}},
      })),
    )

    assertLines(await context.kubectl.ok('apply -f -', {input}), said('created', '-applied'))
    // What is written as stringData is read back as data, so kubectl always finds a difference.
    const again = await context.kubectl.ok('apply -f -', {input})
    assertLines(
      again,
      said('unchanged', '-applied').filter((line) => !line.startsWith('secret/')),
    )
    assertLines(
      await context.kubectl.ok('apply -f -', {input: changed}),
      said('configured', '-applied'),
    )
  })

  it('applies on the server', async () => {
    const input = asList(samples.map((sample) => renamed(sample, '-owned')))
    const apply = 'apply --server-side --field-manager=e2e -f -'
    assertLines(await context.kubectl.ok(apply, {input}), said('serverside-applied', '-owned'))
    assertLines(await context.kubectl.ok(apply, {input}), said('serverside-applied', '-owned'))
    const owners = '{.metadata.managedFields[?(@.operation=="Apply")].manager}'
    const path = `{range .items[*]}{.kind} ${owners}{"\\n"}{end}`
    const text = await context.kubectl.ok(`get -f - -o 'jsonpath=${path}'`, {input})
    assert.deepEqual(
      lines(text),
      samples.map(({manifest}) => `${manifest.kind} e2e`),
    )
  })

  if (waitsForPath) {
    it('waits for a value', async () => {
      const wait = "wait -f - --for=jsonpath='{.metadata.labels.suite}'=samples --timeout=10s"
      assertLines(await context.kubectl.ok(wait, {input: all}), said('condition met'))
    })
  }

  it('deletes, and waits until all is gone', async () => {
    const applied = asList(samples.map((sample) => renamed(sample, '-applied')))
    const text = await context.kubectl.ok('delete -f -', {input: applied})
    assert.equal(lines(text).length, samples.length)
    for (const line of lines(text)) assert.match(line, /^\S+ "\S+" deleted( from .* namespace)?$/)
    const errors = await context.kubectl.fails('get -f -', {input: applied})
    assertContains(
      errors,
      samples.map((sample) => ` "${nameOf(sample)}-applied" not found`),
    )
  })

  it('deletes by label', async () => {
    // kubectl asks for one object after another, slowly, where it waits for many.
    await context.kubectl.ok(`delete ${kinds} -l suite=samples --wait=false`)
    const get = () => context.kubectl.ok(`get ${kinds} -l suite=samples -o name`)
    const deadline = performance.now() + 10_000
    let left = await get()
    while (left !== '' && performance.now() < deadline) left = await get()
    assert.equal(left, '')
  })
})
