import assert from 'node:assert/strict'
import fc from 'fast-check'
import {parseJsonLines} from '../../src/client/watch.ts'

async function parse(chunks: Uint8Array[], longestLine?: number): Promise<unknown[]> {
  const parsed: unknown[] = []
  const stream = (async function* () {
    for (const chunk of chunks) yield await Promise.resolve(chunk)
  })()
  for await (const value of parseJsonLines(stream, longestLine)) parsed.push(value)
  return parsed
}

describe('parseJsonLines', () => {
  it('gives the same values wherever the stream is split', async () => {
    const values = fc.array(
      fc.dictionary(fc.string({unit: 'grapheme'}), fc.string({unit: 'grapheme'})),
    )
    const cuts = fc.array(fc.nat({max: 400}))
    await fc.assert(
      fc.asyncProperty(values, cuts, async (expected, positions) => {
        const bytes = Buffer.from(expected.map((value) => `${JSON.stringify(value)}\n`).join(''))
        const borders = [0, ...positions.filter((at) => at < bytes.length), bytes.length].sort(
          (one, other) => one - other,
        )
        const chunks = borders.slice(1).map((end, at) => bytes.subarray(borders[at], end))
        assert.deepEqual(await parse(chunks), JSON.parse(JSON.stringify(expected)))
      }),
    )
  })

  it('skips empty lines and takes a last line without newline', async () => {
    assert.deepEqual(await parse([Buffer.from('{"a":1}\n\r\n\n{"a":2}')]), [{a: 1}, {a: 2}])
  })

  it('takes half a line at the end for a cut connection', async () => {
    await assert.rejects(parse([Buffer.from('{"a":1}\n{"a":')]), {code: 'SERVER_UNREACHABLE'})
  })

  it('refuses what is not JSON without showing it', async () => {
    await assert.rejects(parse([Buffer.from('password=hunter2\n')]), (error: Error) => {
      assert.equal((error as {code?: string}).code, 'SERVER_ERROR')
      assert.equal(String(error).includes('hunter2'), false)
      return true
    })
  })

  it('refuses a line that does not end', async () => {
    const chunks = Array.from({length: 20}, () => Buffer.alloc(100, 'x'))
    await assert.rejects(parse(chunks, 1000), {code: 'SERVER_ERROR', message: /over 1000 bytes/})
  })
})
