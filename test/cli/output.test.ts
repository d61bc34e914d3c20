import assert from 'node:assert/strict'
import {parse} from 'yaml'
import {render, type View} from '../../src/cli/output.ts'

interface Thing {
  name: string
  since: Date
}
const thing: Thing = {name: 'one', since: new Date('2026-01-01T00:00:00Z')}
const view: View<Thing> = {
  table: ({name}) => `NAME\n${name}\n`,
  name: ({name}) => [`thing/${name}`],
}

describe('render', () => {
  it('prints one JSON object and a line break', async () => {
    const text = await render(thing, 'json', view)
    assert.deepEqual(JSON.parse(text), {name: 'one', since: '2026-01-01T00:00:00.000Z'})
    assert.ok(text.endsWith('}\n'))
  })

  it('prints the same as YAML', async () => {
    assert.deepEqual(parse(await render(thing, 'yaml', view)), {
      name: 'one',
      since: '2026-01-01T00:00:00.000Z',
    })
  })

  it('prints a table for people', async () => {
    assert.equal(await render(thing, 'table', view), 'NAME\none\n')
  })

  it('prints one name a line', async () => {
    assert.equal(await render(thing, 'name', view), 'thing/one\n')
  })

  it('prints one line for a name with a line break', async () => {
    const name = () => ['thing/a\nthing/b']
    const text = await render(thing, 'name', {...view, name})
    assert.equal(text, String.raw`thing/a\u{a}thing/b`.concat('\n'))
  })

  it('refuses names where a result has none', async () => {
    await assert.rejects(render(thing, 'name', {table: view.table}), {code: 'USAGE'})
  })

  it('lets no text of others turn a line around, and loses nothing of it', async () => {
    const result = {name: 'a\u202Eb\u009Bc\u001B', 'k\u200By': 'two\nlines'}
    const texts = [
      await render(result, 'json', {table: () => ''}),
      await render(result, 'yaml', {table: () => ''}),
    ]
    // eslint-disable-next-line no-control-regex -- that there is none is what is tested
    for (const text of texts) assert.doesNotMatch(text, /[\u001B\u009B\u200B\u202E]/)
    const [json = '', yaml = ''] = texts
    assert.deepEqual(JSON.parse(json), result)
    assert.deepEqual(parse(yaml), result)
  })
})
