import assert from 'node:assert/strict'
import {readFile, writeFile} from 'node:fs/promises'
import type {CommandDescription} from '../../src/cli/manifest.ts'
import {describedCommands} from './program.ts'

const SNAPSHOT = new URL('./snapshot/commands.json', import.meta.url)

/** What scripts depend on: names, flags, their short forms and choices. */
function surfaceOf({flags, args}: CommandDescription) {
  return {
    args: Object.values(args).map(({name, required, options}) => ({name, required, options})),
    flags: Object.fromEntries(
      Object.values(flags).map((flag) => [
        flag.name,
        {
          type: flag.type,
          char: flag.char,
          required: flag.required,
          ...(flag.type === 'option' && {
            multiple: flag.multiple,
            options: flag.options,
            default: flag.default as unknown,
          }),
        },
      ]),
    ),
  }
}

describe('the commands and their flags', () => {
  before(async () => {
    if (process.env.UPDATE_SNAPSHOTS !== '1') return
    const manifest = await describedCommands()
    const surface = Object.fromEntries(
      Object.entries(manifest).map(([id, one]) => [id, surfaceOf(one)]),
    )
    const {format} = await import('prettier')
    const json = JSON.stringify(surface)
    await writeFile(
      SNAPSHOT,
      await format(json, {parser: 'json', printWidth: 100, bracketSpacing: false}),
    )
  })

  it('are those of the snapshot; UPDATE_SNAPSHOTS=1 takes a new one', async () => {
    const surface = Object.fromEntries(
      Object.entries(await describedCommands()).map(([id, one]) => [id, surfaceOf(one)]),
    )
    const expected: unknown = JSON.parse(await readFile(SNAPSHOT, 'utf8'))
    assert.deepEqual(JSON.parse(JSON.stringify(surface)), expected)
  })

  it('each have a summary, and an example where they are for people', async () => {
    for (const {id, summary, examples} of Object.values(await describedCommands())) {
      assert.ok(summary, id)
      assert.ok((examples ?? []).length > 0, id)
    }
  })
})
