import {LineCounter, isMap, isScalar, parseDocument, visit} from 'yaml'
import type {Document, Tags} from 'yaml'
import {MalformedError} from './decode-error.ts'

/** Enough for anchors written by hand; a bomb needs many more. */
const MAX_ALIASES = 100
/** Of collections opened inside of each other: the parser recurses over them. */
const MAX_FLOW_DEPTH = 1000
/** Tags of YAML 1.1 that Go's parser leaves as text. */
const LEFT_AS_TEXT = ['timestamp', 'binary', 'omap', 'pairs', 'set']

export interface ParsedYaml {
  value: unknown
  /** Every key that stands twice in one map, in the words of Go's parser. */
  duplicates: string[]
}

/** Reads the first YAML document as Kubernetes does: YAML 1.1, the last of several equal keys counts. */
export function parseYaml(bytes: Uint8Array): ParsedYaml {
  const text = new TextDecoder().decode(bytes)
  requireShallowFlow(text)
  const lines = new LineCounter()
  const document = compose(text, lines)
  const fault = document.errors.find(({code}) => code !== 'MULTIPLE_DOCS')
  if (fault !== undefined) {
    const [what = ''] = fault.message.split(/ at line |\n/)
    throw new MalformedError(`yaml: line ${fault.linePos?.[0].line ?? 1}: ${what}`)
  }
  return {value: toValue(document), duplicates: findDuplicates(document, lines)}
}

function compose(text: string, lineCounter: LineCounter): Document {
  try {
    return parseDocument(text, {
      version: '1.1',
      uniqueKeys: false,
      logLevel: 'silent',
      lineCounter,
      customTags: (tags: Tags) => tags.filter((tag) => !isLeftAsText(tag)),
    })
  } catch {
    throw new MalformedError('yaml: the document nests too deeply')
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

function findDuplicates(document: Document, lines: LineCounter): string[] {
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

/** An upper bound that no document written for a purpose reaches; brackets inside of strings count too. */
function requireShallowFlow(text: string): void {
  let depth = 0
  for (const [bracket] of text.matchAll(/[[\]{}]/g)) {
    depth += bracket === '[' || bracket === '{' ? 1 : -1
    if (depth > MAX_FLOW_DEPTH) throw new MalformedError('yaml: the document nests too deeply')
  }
}
