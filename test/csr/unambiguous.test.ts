import assert from 'node:assert/strict'
import {isUnambiguous} from '../../src/csr/unambiguous.ts'

describe('a request that everyone reads in the same way', () => {
  const block = (body = 'aGk=') =>
    `-----BEGIN CERTIFICATE REQUEST-----\n${body}\n-----END CERTIFICATE REQUEST-----\n`
  const rows: [string, string, boolean][] = [
    ['is one block', block(), true],
    ['may have lines of other systems', block().replaceAll('\n', '\r\n'), true],
    ['may have text around it, as openssl writes', `Data:\n  Version: 1\n${block()}\nend\n`, true],
    ['is not one of two', block() + block(), false],
    ['is not one behind half a block', `-----BEGIN CERTIFICATE REQUEST-----\n${block()}`, false],
    ['is not one behind an end', `-----END ${block()}`, false],
    ['has no headers', block('a b: c\n\naGk='), false],
    ['is there', '', false],
  ]
  for (const [name, text, expected] of rows) {
    it(name, () => assert.equal(isUnambiguous(Buffer.from(text).toString('base64')), expected))
  }
})
