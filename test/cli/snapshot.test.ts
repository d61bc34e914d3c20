import assert from 'node:assert/strict'
import {readFile, writeFile} from 'node:fs/promises'
import type {CommandDescription} from '../../src/cli/manifest.ts'
import {describedCommands} from './program.ts'

const SNAPSHOT = new URL('./snapshot/commands.json', import.meta.url)
const DOCS = new URL('../../docs/commands.md', import.meta.url)

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

const cell = (text: string | undefined) => (text ?? '').replaceAll('|', '\\|')

/** `<name>` where it is needed, `[name]` where it is not, with `…` where there may be several. */
function wordOf({name, required, ...more}: CommandDescription['args'][string]): string {
  const several = 'multiple' in more && more.multiple ? '…' : ''
  return required === true ? `<${name}${several}>` : `[${name}${several}]`
}

function document(manifest: Record<string, CommandDescription>): string {
  const sections = Object.values(manifest).map(({id, summary, description, args, flags}) => {
    const name = id.replaceAll(':', ' ')
    const words = Object.values(args).map((one) => ` ${wordOf(one)}`)
    const rows = Object.values(flags).map((flag) => {
      const short = flag.char ? `\`-${flag.char}\`, ` : ''
      const choices = flag.type === 'option' && flag.options ? ` (${flag.options.join(', ')})` : ''
      return `| ${short}\`--${flag.name}\` | ${cell(flag.summary)}${cell(choices)} |`
    })
    return [
      `## trustadm ${name}${words.join('')}`,
      `${(summary ?? '').charAt(0).toUpperCase()}${(summary ?? '').slice(1)}.`,
      ...(description ? [description] : []),
      ...Object.values(args).map(
        (one) =>
          `\`${wordOf(one)}\`: ${one.description ?? ''}${one.options ? ` (${one.options.join(', ')})` : ''}.`,
      ),
      ['| flag | |', '|---|---|', ...rows].join('\n'),
    ].join('\n\n')
  })
  return `# Commands

Every command prints its result on the standard output and everything else on the standard error. With \`--output json\` the
result is one object; a failure is the last line of the standard error, \`{"error": {"code", "message", "hints"}}\`, and the
standard output stays empty. \`--quiet\` leaves only results, warnings and errors. Colours, spinners and questions are for terminals only; \`NO_COLOR\` and \`CI\` turn them off.
A command waits until its output is read, however slowly. If the reader closes the pipe, the rest is dropped without an error; if the output cannot
be written, as on a full disk, that is an error.

A command waits 15 s for each response of a server, then ends with 5. If it works with a cluster, \`--request-timeout\` sets another time.

Exit codes: 0 done, 1 failed, 2 wrong usage, 3 not trusted, 4 denied, 5 timed out, 6 conflict, 7 due, 130 stopped by Ctrl-C.

${sections.join('\n\n')}
`
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
    await writeFile(DOCS, await format(document(manifest), {parser: 'markdown'}))
  })

  it('are those of the snapshot; UPDATE_SNAPSHOTS=1 takes a new one', async () => {
    const surface = Object.fromEntries(
      Object.entries(await describedCommands()).map(([id, one]) => [id, surfaceOf(one)]),
    )
    const expected: unknown = JSON.parse(await readFile(SNAPSHOT, 'utf8'))
    assert.deepEqual(JSON.parse(JSON.stringify(surface)), expected)
  })

  it('are all listed in docs/commands.md', async () => {
    const docs = await readFile(DOCS, 'utf8')
    for (const {id, flags} of Object.values(await describedCommands())) {
      const heading = `## trustadm ${id.replaceAll(':', ' ')}`
      const start = docs.indexOf(heading)
      assert.notEqual(start, -1, heading)
      const end = docs.indexOf('\n## ', start + 1)
      const section = docs.slice(start, end === -1 ? undefined : end)
      for (const flag of Object.keys(flags))
        assert.ok(section.includes(`\`--${flag}\``), `${id} --${flag}`)
    }
  })

  it('are told in docs/commands.md in the words of the program', async () => {
    const {format} = await import('prettier')
    const told = await format(document(await describedCommands()), {parser: 'markdown'})
    assert.equal(await readFile(DOCS, 'utf8'), told)
  })

  it('each have a summary, and an example where they are for people', async () => {
    for (const {id, summary, examples} of Object.values(await describedCommands())) {
      assert.ok(summary, id)
      assert.ok((examples ?? []).length > 0, id)
    }
  })
})
