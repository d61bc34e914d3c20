import assert from 'node:assert/strict'
import type {Finished} from '../helpers/kubectl.ts'
import {LineStream} from '../helpers/line-stream.ts'
import {assertLines, lines, pattern} from './text.ts'
import {withEveryKubectl} from './versions.ts'

const item = (name: string, weight: string, labels: Record<string, string>) => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: {name, labels},
  data: {weight},
})

const ITEMS = {
  apiVersion: 'v1',
  kind: 'List',
  items: [
    item('apple', '30', {kind: 'fruit', colour: 'green'}),
    item('beet', '10', {kind: 'root', colour: 'red'}),
    item('cherry', '20', {kind: 'fruit', colour: 'red'}),
  ],
}

const SELECTIONS: {flags: string; finds: string[]}[] = [
  {flags: '-l kind=fruit', finds: ['apple', 'cherry']},
  {flags: '-l kind=fruit,colour!=red', finds: ['apple']},
  {flags: "-l 'colour in (red, blue)'", finds: ['beet', 'cherry']},
  {flags: "-l 'kind,kind notin (root)'", finds: ['apple', 'cherry']},
  {flags: '-l kind,!colour', finds: []},
  {flags: '-l kind --field-selector metadata.name=beet', finds: ['beet']},
  {flags: '-l kind --field-selector metadata.name!=beet', finds: ['apple', 'cherry']},
  {flags: '-l kind --chunk-size=1', finds: ['apple', 'beet', 'cherry']},
]

withEveryKubectl('output', (context) => {
  const {prefix} = context

  before(async () => {
    await context.kubectl.ok('create -f -', {input: JSON.stringify(ITEMS)})
  })

  let selected: Map<string, Finished>
  before(async () => {
    selected = await context.kubectl.runAll(SELECTIONS.map(({flags}) => `get cm ${flags} -o name`))
  })
  for (const {flags, finds} of SELECTIONS) {
    it(`selects ${finds.join(' and ') || 'nothing'} by ${flags}`, () => {
      const found = selected.get(`get cm ${flags} -o name`)
      assert.equal(found?.code, 0)
      assert.deepEqual(
        lines(found.stdout),
        finds.map((name) => `configmap/${name}`),
      )
    })
  }

  it('says that nothing was found', async () => {
    const {code, stderr} = await context.kubectl.run('get cm -l kind=nothing')
    assert.equal(code, 0)
    assert.equal(stderr, `No resources found in ${prefix} namespace.\n`)
  })

  it('prints a table with labels', async () => {
    const [header, row] = lines(await context.kubectl.ok('get cm apple --show-labels -L colour'))
    assert.equal(header, 'NAME DATA AGE COLOUR LABELS')
    assert.match(row ?? '', pattern('apple 1 AGE green colour=green,kind=fruit'))
  })

  it('prints YAML', async () => {
    const text = await context.kubectl.ok('get cm apple -o yaml')
    assertLines(text, ['apiVersion: v1', 'kind: ConfigMap', 'weight: "30"', 'name: apple'])
  })

  it('prints a list as JSON', async () => {
    const list = JSON.parse(await context.kubectl.ok('get cm -l kind -o json')) as {
      kind: string
      items: {kind: string; metadata: {name: string}}[]
    }
    assert.equal(list.kind, 'List')
    assert.deepEqual(
      list.items.map(({kind, metadata}) => [kind, metadata.name]),
      [
        ['ConfigMap', 'apple'],
        ['ConfigMap', 'beet'],
        ['ConfigMap', 'cherry'],
      ],
    )
  })

  it('prints by a path', async () => {
    const path = "'jsonpath={range .items[*]}{.metadata.name}={.data.weight};{end}'"
    const text = await context.kubectl.ok(`get cm -l kind -o ${path}`)
    assert.equal(text, 'apple=30;beet=10;cherry=20;')
  })

  it('prints columns of its own choice', async () => {
    const columns = 'custom-columns=WHAT:.metadata.name,KG:.data.weight,NO:.data.nothing'
    const text = await context.kubectl.ok(`get cm apple -o ${columns}`)
    assert.deepEqual(lines(text), ['WHAT KG NO', 'apple 30 <none>'])
  })

  it('prints by a Go template', async () => {
    const template = "'go-template={{.kind}}/{{.data.weight}}'"
    assert.equal(await context.kubectl.ok(`get cm apple -o ${template}`), 'ConfigMap/30')
  })

  it('sorts by a field', async () => {
    const text = await context.kubectl.ok('get cm -l kind --sort-by=.data.weight --no-headers')
    assert.deepEqual(
      lines(text).map((line) => line.split(' ')[0]),
      ['beet', 'cherry', 'apple'],
    )
  })

  it('lists all namespaces', async () => {
    const text = await context.kubectl.ok('get cm -A -l kind=root')
    const [header] = lines(text)
    assert.equal(header, 'NAMESPACE NAME DATA AGE')
    assert.ok(lines(text).some((line) => line.startsWith(`${prefix} beet 1 `)))
  })

  it('lists several kinds at once', async () => {
    const text = await context.kubectl.ok('get cm/apple sa/default -o name')
    assert.deepEqual(lines(text), ['configmap/apple', 'serviceaccount/default'])
  })

  it('is told of a field that cannot be selected by', async () => {
    const errors = await context.kubectl.fails('get cm --field-selector data.weight=30')
    assert.match(errors, /\(BadRequest\): .*"data\.weight" is not a known field selector/)
  })

  it('watches a whole list by label, from creation to deletion', async () => {
    const watch = 'get cm -l kind=berry --watch --no-headers --output-watch-events'
    const stream = new LineStream(context.kubectl.start(watch))
    // Objects that exist when it starts are listed, later ones are watched: either way each shows once.
    try {
      await context.kubectl.ok('create configmap currant')
      await context.kubectl.ok('label cm currant kind=berry')
      await stream.until((seen) => seen.length === 1)
      await context.kubectl.ok('label cm currant sweet=no')
      await stream.until((seen) => seen.length === 2)
      await context.kubectl.ok('label cm currant kind=fruit --overwrite')
      const events = await stream.until((seen) => seen.length === 3)
      assert.deepEqual(
        events.map((line) => line.split(/\s+/).slice(0, 2)),
        [
          ['ADDED', 'currant'],
          ['MODIFIED', 'currant'],
          ['DELETED', 'currant'],
        ],
      )
    } finally {
      await stream.stop()
    }
  })
})
