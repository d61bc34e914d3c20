import type {Document, LineCounter, Tags} from 'yaml'
import {messageOf} from '../../errors.ts'
import {isDeeperThan} from '../kernel/json-value.ts'
import {tooLarge} from '../kernel/status.ts'
import {MalformedError} from './decode-error.ts'
import {MAX_DEPTH, parseJson} from './json.ts'

/** Enough for anchors written by hand; a bomb needs many more. */
const MAX_ALIASES = 100
/** Merges copy what they merge, and are not counted as aliases. */
const MAX_MERGES = 20
/** The depth of nested collections: the parser recurses over them. */
const MAX_FLOW_DEPTH = 200
/** The parser is slow and blocks the event loop: this many pieces take a tenth of a second. */
const MAX_BYTES = 256 * 1024
const MAX_PIECES = 30_000
const SEND_JSON = 'send it as JSON, which may be longer'
/** Tags of YAML 1.1 that Go's parser leaves as text. */
const LEFT_AS_TEXT = ['timestamp', 'binary', 'omap', 'pairs', 'set']
const FORBIDDEN = /[^\t\n\r\x20-\x7e\x85\xa0-\ud7ff\ue000-\ufffd\u{10000}-\u{10ffff}]/u
const HALF_ESCAPED = /\\[uU](?:0000)?[dD][89A-Fa-f]/
const HALF_A_CHARACTER = /\p{Surrogate}/u

export interface ParsedYaml {
  value: unknown
  /** Every duplicate key, in the words of Go's parser. */
  duplicates: string[]
}

type Library = typeof import('yaml')

/** Reads the first YAML document as Kubernetes does: YAML 1.1, the last of several equal keys counts. */
export async function parseYaml(bytes: Uint8Array, mostDepth = MAX_DEPTH): Promise<ParsedYaml> {
  const text = yamlText(bytes)
  const json = asJson(bytes, mostDepth)
  if (json !== undefined) return {value: withWholeCharacters(json.value, text), duplicates: []}
  if (bytes.length > MAX_BYTES) {
    throw tooLarge(`Request entity too large: limit is ${MAX_BYTES} bytes of YAML; ${SEND_JSON}`)
  }
  requireModest(text)
  // Hardly any client sends YAML, and its parser is slow to load.
  const library = await import('yaml')
  requireFewPieces(library, text)
  const lines = new library.LineCounter()
  const document = compose(library, text, lines)
  const fault = document.errors.find(({code}) => code !== 'MULTIPLE_DOCS')
  if (fault !== undefined) {
    if (fault.code === 'RESOURCE_EXHAUSTION') throw tooDeep()
    throw new MalformedError(`yaml: line ${lines.linePos(fault.pos[0]).line}: ${fault.message}`)
  }
  const value = withWholeCharacters(toValue(library, document), text)
  if (isDeeperThan(value, mostDepth)) throw tooDeep()
  return {value, duplicates: findDuplicates(library, document, lines)}
}

const EXCESSIVE_ALIASING = 'yaml: document contains excessive aliasing'
const tooDeep = () => new MalformedError('yaml: the document nests too deeply')

/** What clients send as YAML is often JSON, which is parsed many times faster. */
function asJson(bytes: Uint8Array, mostDepth: number): {value: unknown} | undefined {
  if (bytes[0] !== '{'.charCodeAt(0)) return undefined
  try {
    const {value, hasDuplicates} = parseJson(bytes, mostDepth)
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
      // Each error would copy the lines around it, and there may be as many as characters.
      prettyErrors: false,
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

function toValue(library: Library, document: Document): unknown {
  try {
    return document.toJS({maxAliasCount: MAX_ALIASES}) as unknown
  } catch (error) {
    if (!(error instanceof ReferenceError)) throw new MalformedError(`yaml: ${messageOf(error)}`)
    const unknown = findUnknownAlias(library, document)
    throw new MalformedError(
      unknown === undefined ? EXCESSIVE_ALIASING : `yaml: unknown anchor '${unknown}' referenced`,
    )
  }
}

/** The parser throws the same class of error for an alias without an anchor and for too many aliases. */
function findUnknownAlias({visit}: Library, document: Document): string | undefined {
  const anchors = new Set<string>()
  let unknown: string | undefined
  visit(document, {
    Value(_, {anchor}) {
      if (anchor !== undefined) anchors.add(anchor)
    },
    Alias(_, {source}) {
      if (anchors.has(source)) return undefined
      unknown = source
      return visit.BREAK
    },
  })
  return unknown
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

/** Counts pieces with the lexer alone, which is fast and linear. */
function requireFewPieces({Lexer}: Library, text: string): void {
  let count = 0
  for (const _piece of new Lexer().lex(text)) {
    count += 1
    if (count <= MAX_PIECES) continue
    throw tooLarge(`Request entity too large: limit is ${MAX_PIECES} pieces of YAML; ${SEND_JSON}`)
  }
}

/** Upper bounds that no real document reaches; text inside strings counts too. */
function requireModest(text: string): void {
  let depth = 0
  for (const [bracket] of text.matchAll(/[[\]{}]/g)) {
    depth += bracket === '[' || bracket === '{' ? 1 : -1
    if (depth > MAX_FLOW_DEPTH) throw tooDeep()
  }
  if ((text.match(/<</g)?.length ?? 0) > MAX_MERGES) {
    throw new MalformedError(EXCESSIVE_ALIASING)
  }
}

/** The text of a YAML body. Refuses the bytes and characters that Go's parser refuses, which would otherwise be stored. */
function yamlText(bytes: Uint8Array): string {
  let text: string
  try {
    text = new TextDecoder('utf-8', {fatal: true}).decode(bytes)
  } catch {
    throw new MalformedError('yaml: invalid UTF-8')
  }
  if (FORBIDDEN.test(text)) throw new MalformedError('yaml: control characters are not allowed')
  return text
}

/** Refuses a value with half a surrogate pair, which an escape can produce. */
function withWholeCharacters(value: unknown, text: string): unknown {
  if (!HALF_ESCAPED.test(text)) return value
  const pending = [value]
  while (pending.length > 0) {
    const next = pending.pop()
    if (typeof next === 'string' && HALF_A_CHARACTER.test(next)) {
      throw new MalformedError('yaml: found invalid Unicode character escape code')
    }
    if (typeof next === 'object' && next !== null) {
      for (const [key, inner] of Object.entries(next)) pending.push(key, inner)
    }
  }
  return value
}
