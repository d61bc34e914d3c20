import type {ApiRequest, ApiResponse} from './kernel/api-request.ts'

/** What Go's ParseBool takes for true. */
const TRUE = new Set(['1', 't', 'T', 'TRUE', 'true', 'True'])
const READ_BY_PEOPLE = /^(?:curl|Wget|Mozilla\/5\.0)/
const PRETTY_TYPE = /;\s*pretty=1\s*(?:[;,]|$)/

/** As kube-apiserver: `?pretty=` decides, else Accept, else whether people are known to use the client. */
function isPretty({query, headers}: Pick<ApiRequest, 'query' | 'headers'>): boolean {
  const wanted = query.get('pretty') ?? ''
  if (wanted !== '') return TRUE.has(wanted)
  return PRETTY_TYPE.test(headers.accept ?? '') || READ_BY_PEOPLE.test(headers['user-agent'] ?? '')
}

/**
 * A JSON response with line breaks and two spaces for each level, if its caller wants that. A watch stays one line for each event, and
 * OpenAPI one line, as in Kubernetes.
 */
export function prettyIfWanted(
  request: Pick<ApiRequest, 'path' | 'query' | 'headers'>,
  answer: ApiResponse,
): ApiResponse {
  const {body, headers, finite} = answer
  if (headers['Content-Type'] !== 'application/json' || !isPretty(request)) return answer
  if (request.path.startsWith('/openapi/')) return answer
  if (typeof body === 'string') return {...answer, body: new Indenter().take(body)}
  if (body instanceof Uint8Array)
    return {...answer, body: new Indenter().take(Buffer.from(body).toString())}
  return finite === true ? {...answer, body: indented(body)} : answer
}

async function* indented(body: AsyncIterable<string | Uint8Array>): AsyncGenerator<string> {
  const indenter = new Indenter()
  for await (const piece of body) yield indenter.take(piece.toString())
}

/** Where a string or a separator begins. */
const MARK = /["{}[\],:]/g
/** Deeper levels are not indented further: a response must not become many times its size. */
const MAX_DEPTH = 32
const BREAKS = Array.from({length: MAX_DEPTH + 1}, (_, depth) => `\n${'  '.repeat(depth)}`)

/** Indents JSON that comes in pieces, none of which ends inside a string. */
class Indenter {
  #depth = 0
  /** The last token opened a list or an object: what is empty stays on one line. */
  #isOpen = false

  take(piece: string): string {
    let text = ''
    let done = 0
    MARK.lastIndex = 0
    for (let found = MARK.exec(piece); found !== null; found = MARK.exec(piece)) {
      const [mark] = found
      // A number, true, false or null.
      if (found.index > done) text += this.#next() + piece.slice(done, found.index)
      done = mark === '"' ? endOfString(piece, found.index) : found.index + 1
      MARK.lastIndex = done
      if (mark === '}' || mark === ']') {
        this.#depth--
        text += this.#isOpen ? mark : this.#break() + mark
        this.#isOpen = false
      } else if (mark === ',') text += mark + this.#break()
      else if (mark === ':') text += ': '
      else {
        text += this.#next() + piece.slice(found.index, done)
        if (mark !== '"') {
          this.#depth++
          this.#isOpen = true
        }
      }
    }
    return done < piece.length ? text + this.#next() + piece.slice(done) : text
  }

  /** What comes before a value. */
  #next(): string {
    if (!this.#isOpen) return ''
    this.#isOpen = false
    return this.#break()
  }

  #break(): string {
    return BREAKS[Math.min(this.#depth, MAX_DEPTH)] ?? ''
  }
}

/** A regular expression for a whole string would overflow the stack on a long one. */
function endOfString(text: string, start: number): number {
  for (let end = text.indexOf('"', start + 1); end !== -1; end = text.indexOf('"', end + 1)) {
    let before = end
    while (text[before - 1] === '\\') before--
    if ((end - before) % 2 === 0) return end + 1
  }
  return text.length
}
