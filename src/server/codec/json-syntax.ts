const MAX_DEPTH = 10_000
const HEX = /^[0-9A-Fa-f]$/
const LITERALS: Record<string, string> = {t: 'true', f: 'false', n: 'null'}
const ESCAPES = '"\\/bfnrt'

class SyntaxFault extends Error {}

/**
 * Says what is wrong with JSON text in the words of Go's encoding/json, by reading it byte by byte as Go does.
 * Only called on text that did not parse, so speed does not matter; undefined if nothing is wrong.
 */
export function jsonSyntaxFault(bytes: Uint8Array): string | undefined {
  try {
    new Scanner(bytes).document()
    return undefined
  } catch (error) {
    if (error instanceof SyntaxFault) return error.message
    throw error
  }
}

class Scanner {
  readonly #bytes: Uint8Array
  #position = 0

  constructor(bytes: Uint8Array) {
    this.#bytes = bytes
  }

  /** Uses its own stack instead of recursion: the sender chooses the depth. */
  document(): void {
    const open: ('{' | '[')[] = []
    let expectsValue = true
    while (expectsValue || open.length > 0) {
      if (expectsValue) {
        expectsValue = this.#beginValue(open)
        continue
      }
      this.#space()
      const inObject = open.at(-1) === '{'
      const context = inObject ? 'after object key:value pair' : 'after array element'
      const next = this.#take()
      if (next === ',') {
        if (inObject) this.#key('looking for beginning of object key string')
        expectsValue = true
      } else if (next === (inObject ? '}' : ']')) {
        open.pop()
      } else {
        this.#fail(context)
      }
    }
    this.#space()
    if (this.#peek() !== undefined) this.#refuse('after top-level value')
  }

  /** Whether a further value must follow. */
  #beginValue(open: ('{' | '[')[]): boolean {
    const context = 'looking for beginning of value'
    this.#space()
    const first = this.#take()
    if (first === '{' || first === '[') {
      if (open.length >= MAX_DEPTH) throw new SyntaxFault('exceeded max depth')
      open.push(first)
      this.#space()
      if (this.#peek() === (first === '{' ? '}' : ']')) {
        this.#position += 1
        open.pop()
        return false
      }
      if (first === '{') this.#key('looking for beginning of object key string')
      return true
    }
    if (first === '"') this.#string()
    else if (first === '-' || isDigit(first)) this.#number(first)
    else if (first in LITERALS) this.#literal(LITERALS[first] ?? '')
    else this.#fail(context)
    return false
  }

  #key(context: string): void {
    this.#space()
    if (this.#take() !== '"') this.#fail(context)
    this.#string()
    this.#space()
    if (this.#take() !== ':') this.#fail('after object key')
  }

  #string(): void {
    for (;;) {
      const next = this.#take()
      if (next === '"') return
      if (next < ' ') this.#fail('in string literal')
      if (next === '\\') this.#escape()
    }
  }

  #escape(): void {
    const context = 'in string escape code'
    const next = this.#take()
    if (next !== 'u') {
      if (!ESCAPES.includes(next)) this.#fail(context)
      return
    }
    for (let digit = 0; digit < 4; digit += 1) {
      const hex = 'in \\u hexadecimal character escape'
      if (!HEX.test(this.#take())) this.#fail(hex)
    }
  }

  #number(first: string): void {
    let digit = first
    if (first === '-') {
      digit = this.#take()
      if (!isDigit(digit)) this.#fail('in numeric literal')
    }
    if (digit !== '0') this.#digits()
    if (this.#peek() === '.') {
      this.#position += 1
      this.#atLeastOneDigit('after decimal point in numeric literal')
    }
    if (this.#peek()?.toLowerCase() === 'e') {
      this.#position += 1
      if (this.#peek() === '+' || this.#peek() === '-') this.#position += 1
      this.#atLeastOneDigit('in exponent of numeric literal')
    }
  }

  #atLeastOneDigit(context: string): void {
    if (!isDigit(this.#take())) this.#fail(context)
    this.#digits()
  }

  #digits(): void {
    while (isDigit(this.#peek() ?? '')) this.#position += 1
  }

  #literal(word: string): void {
    for (const letter of word.slice(1)) {
      const context = `in literal ${word} (expecting ${quoted(letter)})`
      if (this.#take() !== letter) this.#fail(context)
    }
  }

  #space(): void {
    while (' \t\r\n'.includes(this.#peek() ?? '?')) this.#position += 1
  }

  #peek(): string | undefined {
    const byte = this.#bytes[this.#position]
    return byte === undefined ? undefined : String.fromCharCode(byte)
  }

  #take(): string {
    const next = this.#peek()
    if (next === undefined) throw new SyntaxFault('unexpected end of JSON input')
    this.#position += 1
    return next
  }

  /** Refuses the byte that was read last. */
  #fail(context: string): never {
    this.#position -= 1
    this.#refuse(context)
  }

  #refuse(context: string): never {
    throw new SyntaxFault(`invalid character ${quoted(this.#peek() ?? '')} ${context}`)
  }
}

const isDigit = (text: string) => text >= '0' && text <= '9'

const ESCAPED: Record<string, string> = {
  '\u0007': '\\a',
  '\b': '\\b',
  '\f': '\\f',
  '\n': '\\n',
  '\r': '\\r',
  '\t': '\\t',
  '\v': '\\v',
  '\\': '\\\\',
  "'": "\\'",
}

/** A byte as Go's quoteChar shows it. */
function quoted(text: string): string {
  const code = text.charCodeAt(0)
  const printable = (code >= 0x20 && code < 0x7f) || (code > 0xa0 && code !== 0xad)
  const plain = printable ? text : `\\${code < 0x80 ? 'x' : 'u00'}${hex(code)}`
  return `'${ESCAPED[text] ?? plain}'`
}

const hex = (code: number) => code.toString(16).padStart(2, '0')
