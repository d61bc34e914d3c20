/** A PEM block as Go's encoding/pem reads it. */
export interface PemBlock {
  type: string
  hasHeaders: boolean
  bytes: Buffer
}

const BEGIN = '-----BEGIN '
const END = '-----END '
const BEGIN_LINE = /^-----BEGIN ([^\r\n]*?)-----[ \t]*$/
const END_LINE = /^-----END ([^\r\n]*?)-----[ \t]*$/
const HEADER = /^[^\s:]+:/
const BASE64 = /^[A-Za-z0-9+/]*={0,2}$/

/**
 * Every well-formed block of a text; other text, and what only looks like a block, is skipped. Base64 has no dashes, so a block
 * can only start at the last BEGIN line before an END line: a text of many BEGIN lines is still read in linear time.
 */
export function pemBlocks(text: string): PemBlock[] {
  const blocks: PemBlock[] = []
  let from = 0
  for (;;) {
    const end = lineStart(text, END, from)
    if (end === -1) return blocks
    const endLine = lineAt(text, end)
    const block = blockIn(text.slice(from, end), END_LINE.exec(endLine)?.[1])
    if (block !== undefined) blocks.push(block)
    from = end + endLine.length + 1
  }
}

/** The block that ends here, if there is one of its type. */
function blockIn(before: string, type: string | undefined): PemBlock | undefined {
  const begin = lastLineStart(before, BEGIN)
  if (begin === -1 || type === undefined) return undefined
  const beginLine = lineAt(before, begin)
  if (BEGIN_LINE.exec(beginLine)?.[1] !== type) return undefined
  const rest = before.slice(begin + beginLine.length + 1)
  const data = rest.slice(headersLength(rest))
  const body = data.replaceAll('\n', '').replaceAll(/[ \t\r]+/g, '')
  if (body.length % 4 !== 0 || !BASE64.test(body)) return undefined
  return {type, hasHeaders: data.length < rest.length, bytes: Buffer.from(body, 'base64')}
}

/** How many characters the headers before the data take. */
function headersLength(text: string): number {
  // Nearly no block has any.
  if (!text.includes(':')) return 0
  for (let at = 0; ;) {
    const end = text.indexOf('\n', at)
    if (!HEADER.test(end === -1 ? text.slice(at) : text.slice(at, end))) return at
    if (end === -1) return 0
    at = end + 1
  }
}

const isLineStart = (text: string, at: number) => at === 0 || text[at - 1] === '\n'

function lineStart(text: string, mark: string, from: number): number {
  let at = text.indexOf(mark, from)
  while (at !== -1 && !isLineStart(text, at)) at = text.indexOf(mark, at + 1)
  return at
}

function lastLineStart(text: string, mark: string): number {
  let at = text.lastIndexOf(mark)
  while (at > 0 && !isLineStart(text, at)) at = text.lastIndexOf(mark, at - 1)
  return at
}

/** Without the line end. */
function lineAt(text: string, start: number): string {
  const end = text.indexOf('\n', start)
  const line = text.slice(start, end === -1 ? text.length : end)
  return line.endsWith('\r') ? line.slice(0, -1) : line
}
