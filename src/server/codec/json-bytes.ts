/** The bytes that JSON's structure is made of. */
export const BYTE = {
  quote: 0x22,
  comma: 0x2c,
  colon: 0x3a,
  openBracket: 0x5b,
  backslash: 0x5c,
  closeBracket: 0x5d,
  openBrace: 0x7b,
  closeBrace: 0x7d,
} as const

/** Where the string ends that begins at `start`: at its second quote, or at the end of the bytes. */
export function endOfString(bytes: Uint8Array, start: number): number {
  let position = start + 1
  while (position < bytes.length && bytes[position] !== BYTE.quote) {
    position += bytes[position] === BYTE.backslash ? 2 : 1
  }
  return position
}
