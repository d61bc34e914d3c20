import {TAG} from './der-writer.ts'

/** The bytes are not DER, or not of the expected structure. Callers turn it into a TrustError. */
export class DerError extends Error {
  override name = 'DerError'
}

/** An element by its place: most of a certificate is only passed over, and a Buffer for each part would cost more than reading it. */
export class Element {
  readonly tag: number
  readonly #source: Buffer
  readonly #start: number
  readonly #from: number
  readonly #end: number

  constructor(tag: number, source: Buffer, start: number, from: number, end: number) {
    this.tag = tag
    this.#source = source
    this.#start = start
    this.#from = from
    this.#end = end
  }

  /** The content. */
  get content(): Buffer {
    return this.#source.subarray(this.#from, this.#end)
  }

  /** Tag, length and content. */
  get bytes(): Buffer {
    return this.#source.subarray(this.#start, this.#end)
  }
}

/**
 * Reads DER elements one after the other. As strict as Go's reader: definite, shortest lengths and low tag numbers only.
 */
export class DerReader {
  readonly #bytes: Buffer
  #at = 0

  constructor(bytes: Buffer) {
    this.#bytes = bytes
  }

  get done(): boolean {
    return this.#at >= this.#bytes.length
  }

  /** The next element, whatever it is. */
  next(): Element {
    const start = this.#at
    const tag = this.#byte()
    if ((tag & 0x1f) === 0x1f) throw new DerError('high tag numbers are not supported')
    const length = this.#length()
    const from = this.#at
    const end = from + length
    if (end > this.#bytes.length) throw new DerError('the data is cut short')
    this.#at = end
    return new Element(tag, this.#bytes, start, from, end)
  }

  /** The next element, which must carry the tag. */
  read(tag: number): Element {
    const found = this.next()
    if (found.tag !== tag) {
      throw new DerError(`tag 0x${found.tag.toString(16)} instead of 0x${tag.toString(16)}`)
    }
    return found
  }

  /** The next element if it carries the tag. */
  optional(tag: number): Element | undefined {
    return this.#bytes[this.#at] === tag ? this.next() : undefined
  }

  /** The elements inside of the next element. */
  enter(tag: number): DerReader {
    return new DerReader(this.read(tag).content)
  }

  end(): void {
    if (!this.done) throw new DerError('there is more data than expected')
  }

  #byte(): number {
    const byte = this.#bytes[this.#at]
    if (byte === undefined) throw new DerError('the data is cut short')
    this.#at += 1
    return byte
  }

  #length(): number {
    const first = this.#byte()
    if (first < 0x80) return first
    const count = first & 0x7f
    if (count === 0 || count > 4) throw new DerError('an element has an unusable length')
    let length = 0
    for (let index = 0; index < count; index += 1) length = length * 256 + this.#byte()
    if (length < 0x80 || length < 256 ** (count - 1)) {
      throw new DerError('a length is not in its shortest form')
    }
    return length
  }
}

/** The elements inside of the one element that the bytes are. */
export function enterOnly(bytes: Buffer, tag: number): DerReader {
  const reader = new DerReader(bytes)
  const inner = reader.enter(tag)
  reader.end()
  return inner
}

export function elementsOf(content: Buffer): Element[] {
  const reader = new DerReader(content)
  const found: Element[] = []
  while (!reader.done) found.push(reader.next())
  return found
}

export function readOid({content}: Element): string {
  const last = content[content.length - 1]
  if (last === undefined || last >= 0x80) throw new DerError('an object identifier is cut short')
  let dotted = ''
  let arc = 0
  let starts = true
  // Into one string: a certificate has a dozen of these.
  for (const byte of content) {
    if (starts && byte === 0x80)
      throw new DerError('an object identifier is not in its shortest form')
    arc = arc * 128 + (byte & 0x7f)
    if (!Number.isSafeInteger(arc)) throw new DerError('an object identifier is too large')
    starts = byte < 0x80
    if (!starts) continue
    if (dotted === '') {
      const first = Math.min(Math.floor(arc / 40), 2)
      dotted = `${first}.${arc - first * 40}`
    } else {
      dotted += `.${arc}`
    }
    arc = 0
  }
  return dotted
}

export function readBoolean({content}: Element): boolean {
  if (content.length !== 1 || (content[0] !== 0 && content[0] !== 0xff)) {
    throw new DerError('a boolean is neither true nor false')
  }
  return content[0] === 0xff
}

/** The bytes of an integer, which must be in their shortest form. */
export function readInteger({content}: Element): Buffer {
  const [first, second] = content
  if (first === undefined) throw new DerError('an integer is empty')
  const padded =
    second !== undefined && ((first === 0 && second < 0x80) || (first === 0xff && second >= 0x80))
  if (padded) throw new DerError('an integer is not in its shortest form')
  return content
}

export function readSmallInteger(found: Element): number {
  const bytes = readInteger(found)
  if (bytes.length > 4 || (bytes[0] ?? 0) >= 0x80) throw new DerError('an integer is out of range')
  return bytes.readUIntBE(0, bytes.length)
}

/** The bytes of a bit string that ends on an octet. */
export function readBytesOfBits({content}: Element): Buffer {
  if (content[0] !== 0) throw new DerError('a bit string does not end on an octet')
  return content.subarray(1)
}

/** The numbers of the bits that are set. */
export function readBits({content}: Element): number[] {
  const [unused] = content
  if (unused === undefined || unused > 7 || (content.length === 1 && unused > 0)) {
    throw new DerError('a bit string is malformed')
  }
  const set: number[] = []
  for (let bit = 0; bit < (content.length - 1) * 8 - unused; bit += 1) {
    if (((content[1 + (bit >> 3)] ?? 0) & (0x80 >> (bit & 7))) !== 0) set.push(bit)
  }
  return set
}

const UTC_TIME = /^(\d\d)(\d\d)(\d\d)(\d\d)(\d\d)(\d\d)Z$/
const GENERALIZED_TIME = /^(\d{4})(\d\d)(\d\d)(\d\d)(\d\d)(\d\d)Z$/

export function readTime({tag, content}: Element): Date {
  const pattern = tag === TAG.utcTime ? UTC_TIME : GENERALIZED_TIME
  const parts = pattern.exec(content.toString('latin1'))?.slice(1).map(Number)
  if (!parts || (tag !== TAG.utcTime && tag !== TAG.generalizedTime)) {
    throw new DerError('a time is malformed')
  }
  const [given = 0, month = 0, day = 0, hour = 0, minute = 0, second = 0] = parts
  const century = tag === TAG.generalizedTime ? 0 : given < 50 ? 2000 : 1900
  const date = new Date(0)
  date.setUTCFullYear(century + given, month - 1, day)
  date.setUTCHours(hour, minute, second)
  if (
    date.getUTCMonth() !== month - 1 ||
    date.getUTCDate() !== day ||
    date.getUTCSeconds() !== second
  ) {
    throw new DerError('a time is out of range')
  }
  return date
}
