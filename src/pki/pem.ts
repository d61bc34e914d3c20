import {TrustError} from '../errors.ts'

export interface PemBlock {
  label: string
  bytes: Buffer
  /** Lines such as `Proc-Type: 4,ENCRYPTED` that stand before the data. */
  headers: string[]
}

const BEGIN = /^-----BEGIN ([A-Z0-9 ]+)-----\s*$/
const END = /^-----END ([A-Z0-9 ]+)-----\s*$/
const BASE64 = /^[A-Za-z0-9+/]*={0,2}$/

function invalid(message: string): TrustError {
  return new TrustError('PEM_INVALID', message)
}

function toBlock(label: string, lines: string[]): PemBlock {
  const headers: string[] = []
  let base64 = ''
  for (const line of lines) {
    if (base64 === '' && line.includes(':')) headers.push(line.trim())
    else base64 += line.trim()
  }
  if (!BASE64.test(base64) || base64.length % 4 !== 0) {
    throw invalid(`the ${label} block does not hold base64`)
  }
  return {label, bytes: Buffer.from(base64, 'base64'), headers}
}

/**
 * All blocks, in order; text before, between and after them is passed over. A block that is begun and not ended, or does
 * not hold base64, is refused: passing over it would leave a certificate out of a bundle without a word.
 */
export function parsePem(text: string): PemBlock[] {
  const blocks: PemBlock[] = []
  let open: {label: string; lines: string[]} | undefined
  for (const line of text.split(/\r\n|\n|\r/)) {
    const begun = BEGIN.exec(line)?.[1]
    const ended = END.exec(line)?.[1]
    if (open === undefined) {
      if (begun !== undefined) open = {label: begun, lines: []}
    } else if (begun !== undefined) {
      throw invalid(`a ${begun} block begins inside of a ${open.label} block`)
    } else if (ended === undefined) {
      open.lines.push(line)
    } else if (ended === open.label) {
      blocks.push(toBlock(open.label, open.lines))
      open = undefined
    } else {
      throw invalid(`a ${open.label} block is ended as ${ended}`)
    }
  }
  if (open !== undefined) throw invalid(`the ${open.label} block has no end`)
  return blocks
}

export function encodePem(label: string, bytes: Uint8Array): string {
  const lines =
    Buffer.from(bytes)
      .toString('base64')
      .match(/.{1,64}/g) ?? []
  return `-----BEGIN ${label}-----\n${lines.map((line) => `${line}\n`).join('')}-----END ${label}-----\n`
}
