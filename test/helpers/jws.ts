import {createHmac} from 'node:crypto'
import type {BootstrapToken} from '../../src/bootstrap/token.ts'

const encode = (text: string) => Buffer.from(text).toString('base64url')

/** The detached signature of a token, made without the code under test and without its library. */
export function independentJws(content: string, {id, secret}: BootstrapToken): string {
  const header = encode(`{"alg":"HS256","kid":"${id}"}`)
  const mac = createHmac('sha256', secret).update(`${header}.${encode(content)}`)
  return `${header}..${mac.digest('base64url')}`
}
