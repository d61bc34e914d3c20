import {TrustError} from '../errors.ts'

export interface PemBlock {
  label: string
  bytes: Buffer
  /** Lines such as `Proc-Type: 4,ENCRYPTED` before the data. */
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
    throw invalid(`the ${label} block is not base64`)
  }
  return {label, bytes: Buffer.from(base64, 'base64'), headers}
}

/**
 * All blocks, in order; other text is skipped. A block that is not complete, or is not base64, is refused: skipping it would
 * silently drop a certificate from a bundle.
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
      throw invalid(`a ${begun} block starts inside of a ${open.label} block`)
    } else if (ended === undefined) {
      open.lines.push(line)
    } else if (ended === open.label) {
      blocks.push(toBlock(open.label, open.lines))
      open = undefined
    } else {
      throw invalid(`a ${open.label} block ends as ${ended}`)
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
