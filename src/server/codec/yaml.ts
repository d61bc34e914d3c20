import type {Document, LineCounter, Tags} from 'yaml'
import {MalformedError} from './decode-error.ts'
import {parseJson} from './json.ts'

/** Enough for anchors written by hand; a bomb needs many more. */
const MAX_ALIASES = 100
/** Merges copy what they merge, and are not counted as aliases. */
const MAX_MERGES = 20
/** Of collections opened inside of each other: the parser recurses over them. */
const MAX_FLOW_DEPTH = 200
/** The parser is slow, and nothing else is served meanwhile. JSON has no such limit. */
const MAX_BYTES = 512 * 1024
/** Tags of YAML 1.1 that Go's parser leaves as text. */
const LEFT_AS_TEXT = ['timestamp', 'binary', 'omap', 'pairs', 'set']

export interface ParsedYaml {
  value: unknown
  /** Every key that stands twice in one map, in the words of Go's parser. */
  duplicates: string[]
}

type Library = typeof import('yaml')

/** Reads the first YAML document as Kubernetes does: YAML 1.1, the last of several equal keys counts. */
export async function parseYaml(bytes: Uint8Array): Promise<ParsedYaml> {
  const json = asJson(bytes)
  if (json !== undefined) return {value: json.value, duplicates: []}
  if (bytes.length > MAX_BYTES) {
    throw new MalformedError(`yaml: the document is longer than ${MAX_BYTES} bytes`)
  }
  const text = new TextDecoder().decode(bytes)
  requireModest(text)
  // Hardly any client sends YAML, and its parser is slow to load.
  const library = await import('yaml')
  const lines = new library.LineCounter()
  const document = compose(library, text, lines)
  const fault = document.errors.find(({code}) => code !== 'MULTIPLE_DOCS')
  if (fault !== undefined) {
    const [what = ''] = fault.message.split(/ at line |\n/)
    if (what.includes('call stack')) throw tooDeep()
    throw new MalformedError(`yaml: line ${fault.linePos?.[0].line ?? 1}: ${what}`)
  }
  return {value: toValue(document), duplicates: findDuplicates(library, document, lines)}
}

const tooDeep = () => new MalformedError('yaml: the document nests too deeply')

/** What clients call YAML is JSON more often than not, and that is read many times faster. */
function asJson(bytes: Uint8Array): {value: unknown} | undefined {
  if (bytes[0] !== '{'.charCodeAt(0)) return undefined
  try {
    const {value, hasDuplicates} = parseJson(bytes)
    return hasDuplicates ? undefined : {value}
  } catch {
    return undefined
  }
}

function compose({parseDocument}: Library, text: string, lineCounter: LineCounter): Document {
  try {
    return parseDocument(text, {
      version: '1.1',
      uniqueKeys: false,
      logLevel: 'silent',
      lineCounter,
      customTags: (tags: Tags) => tags.filter((tag) => !isLeftAsText(tag)),
    })
  } catch {
    throw tooDeep()
  }
}

/** `1:30` is no number to Go either; such tags have a format. */
const isLeftAsText = (tag: Tags[number]) =>
  typeof tag !== 'string' &&
  (LEFT_AS_TEXT.some((name) => tag.tag.endsWith(`:${name}`)) ||
    ('format' in tag && tag.format === 'TIME'))

function toValue(document: Document): unknown {
  try {
    return document.toJS({maxAliasCount: MAX_ALIASES}) as unknown
  } catch (error) {
    const isBomb = error instanceof ReferenceError && error.message.includes('Excessive')
    throw new MalformedError(
      isBomb ? 'yaml: document contains excessive aliasing' : `yaml: ${(error as Error).message}`,
    )
  }
}

function findDuplicates(
  {isMap, isScalar, visit}: Library,
  document: Document,
  lines: LineCounter,
): string[] {
  const found: string[] = []
  visit(document, {
    Map(_, map) {
      const seen = new Set<unknown>()
      for (const {key} of map.items) {
        if (!isScalar(key) || isMap(key)) continue
        if (seen.has(key.value) && key.value !== '<<') {
          const line = lines.linePos(key.range?.[0] ?? 0).line
          found.push(`line ${line}: key ${JSON.stringify(String(key.value))} already set in map`)
        }
        seen.add(key.value)
      }
    },
  })
  return found.length === 0 ? [] : [`yaml: unmarshal errors:\n  ${found.join('\n  ')}`]
}

/** Upper bounds that no document written for a purpose reaches; what stands inside of strings counts too. */
function requireModest(text: string): void {
  let depth = 0
  for (const [bracket] of text.matchAll(/[[\]{}]/g)) {
    depth += bracket === '[' || bracket === '{' ? 1 : -1
    if (depth > MAX_FLOW_DEPTH) throw tooDeep()
  }
  if ((text.match(/<</g)?.length ?? 0) > MAX_MERGES) {
    throw new MalformedError('yaml: document contains excessive aliasing')
  }
}
