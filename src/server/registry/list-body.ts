import {setImmediate as nextTurn} from 'node:timers/promises'
import type {ApiResponse} from '../kernel/api-request.ts'

/** Responses up to this size are one text, with their length in a header. */
const WHOLE = 1024 * 1024
const PIECE = 256 * 1024

/** The body of a response from its parts: one text if it is short, else built piece by piece as it is read. */
export function listBody(parts: Iterator<string>): Pick<ApiResponse, 'body' | 'finite'> {
  const first = gather(parts, WHOLE)
  return first.done ? {body: first.text} : {body: pieces(first.text, parts), finite: true}
}

function gather(parts: Iterator<string>, length: number): {text: string; done: boolean} {
  let text = ''
  while (text.length < length) {
    const part = parts.next()
    if (part.done === true) return {text, done: true}
    text += part.value
  }
  return {text, done: false}
}

async function* pieces(first: string, parts: Iterator<string>): AsyncGenerator<string> {
  yield first
  for (;;) {
    // Other work gets its turn, even if the reader takes every piece at once.
    await nextTurn()
    const {text, done} = gather(parts, PIECE)
    if (text !== '') yield text
    if (done) return
  }
}
