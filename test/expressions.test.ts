import {readdirSync, readFileSync} from 'node:fs'
import {join} from 'node:path'
import ts from 'typescript'
import {namesOfHosts} from '../src/pki/subject-names.ts'
import {parseDuration} from '../src/bootstrap/durations.ts'
import * as names from '../src/server/validation/names.ts'
import {assertLinear, sizesUpTo} from './helpers/growth.ts'

const ROOT = join(import.meta.dirname, '../src')
const SIZES = sizesUpTo(100_000)

/** Runs that a careless expression starts over in, at every character. */
const RUNS = [
  'a',
  'A',
  '1',
  '0',
  '.',
  '-',
  '/',
  '*',
  ' ',
  '\n',
  '=',
  '~',
  '"',
  '\\',
  ':',
  'a.',
  '1.',
  'a-',
]
/** Ends that fit nothing, so that everything is tried. */
const ENDS = ['', '!\u0000']

interface Expression {
  where: string
  pattern: RegExp
}

/** Every expression that is written out in the sources; those that are put together from texts have tests of their own below. */
function* expressionsIn(folder: string): Generator<Expression> {
  const files = readdirSync(folder, {recursive: true, encoding: 'utf8'})
  for (const file of files.filter((name) => name.endsWith('.ts'))) {
    const text = readFileSync(join(folder, file), 'utf8')
    const source = ts.createSourceFile(file, text, ts.ScriptTarget.Latest, true)
    const found: Expression[] = []
    const visit = (node: ts.Node): void => {
      if (ts.isRegularExpressionLiteral(node)) {
        const slash = node.text.lastIndexOf('/')
        const flags = node.text.slice(slash + 1)
        found.push({where: file, pattern: new RegExp(node.text.slice(1, slash), flags)})
      }
      ts.forEachChild(node, visit)
    }
    visit(source)
    yield* found
  }
}

/** The plain characters that an expression begins with: a run behind them gets further into it. */
const startOf = ({source}: RegExp) =>
  /^\^?((?:[\w -]|\\[./*[])*)/.exec(source)?.[1]?.replaceAll('\\', '') ?? ''

async function assertLinearOnRuns(
  what: string,
  use: (text: string) => unknown,
  start = '',
): Promise<void> {
  for (const run of RUNS) {
    for (const end of ENDS) {
      await assertLinear(`${what} on ${JSON.stringify(run)}`, SIZES, (size) => {
        const text = start + run.repeat(size / run.length) + end
        return () => use(text)
      })
    }
  }
}

describe('expressions that see text from outside', () => {
  for (const {where, pattern} of expressionsIn(ROOT)) {
    it(`take linear time: ${where} ${pattern.source}`, async () => {
      const use = (text: string) => text.replace(pattern, '')
      await assertLinearOnRuns(pattern.source, use)
      const start = startOf(pattern)
      if (start !== '') await assertLinearOnRuns(pattern.source, use, start)
    })
  }

  const checks: [name: string, use: (text: string) => unknown][] = [
    ['DNS labels', names.dnsLabel],
    ['DNS subdomains', names.dnsSubdomain],
    ['DNS labels of RFC 1035', names.dns1035Label],
    ['qualified names', names.qualifiedName],
    ['label values', names.labelValue],
    ['keys of ConfigMaps', names.configKey],
    ['ports', names.portName],
    ['time spans', (text) => orNothing(() => parseDuration(text, 'a'))],
    ['host names', (text) => orNothing(() => namesOfHosts([text]))],
  ]
  for (const [name, use] of checks) {
    it(`take linear time: ${name}`, () => assertLinearOnRuns(name, use))
  }
})

function orNothing<T>(use: () => T): T | undefined {
  try {
    return use()
  } catch {
    return undefined
  }
}
