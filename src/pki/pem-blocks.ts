/** A PEM block as Go's encoding/pem reads it. */
export interface PemBlock {
  type: string
  hasHeaders: boolean
  bytes: Buffer
}

const BLOCK = /^-----BEGIN ([^\r\n]*?)-----[ \t]*\r?\n([\s\S]*?)-----END \1-----[ \t]*\r?$/gm
const HEADER = /^[^\s:]+:/
const BASE64 = /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/

/** Every well-formed block of a text; what stands around blocks, and what only looks like one, is skipped. */
export function pemBlocks(text: string): PemBlock[] {
  return [...text.matchAll(BLOCK)].flatMap(([, type = '', inside = '']) => {
    const lines = inside.split(/\r?\n/)
    const headers = lines.findIndex((line) => !HEADER.test(line))
    const body = lines.slice(Math.max(headers, 0)).join('').replaceAll(/\s/g, '')
    if (!BASE64.test(body)) return []
    return [{type, hasHeaders: headers > 0, bytes: Buffer.from(body, 'base64')}]
  })
}
