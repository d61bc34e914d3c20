/**
 * Whether every reader of PEM finds the same request in spec.request. Of several blocks, or one with headers, one reader
 * takes what another passes over: what a person was shown would not be what is signed. API servers take such requests.
 */
export function isUnambiguous(encoded: string): boolean {
  const text = Buffer.from(encoded, 'base64').toString('latin1')
  const [, , body = '', ...rest] = text.split('-----')
  return rest.length === 2 && !body.includes(':')
}
