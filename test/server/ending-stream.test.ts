import assert from 'node:assert/strict'
import {endingStream} from '../../src/server/ending-stream.ts'

async function* numbers() {
  yield 1
  yield await Promise.resolve(2)
}

describe('endingStream', () => {
  const told = (
    signal = new AbortController().signal,
    stream: AsyncIterable<number> = numbers(),
  ) => {
    let times = 0
    const wrapped = endingStream(stream, signal, () => times++)
    return {wrapped, times: () => times}
  }

  it('tells of the end once, after everything was read', async () => {
    const stop = new AbortController()
    const {wrapped, times} = told(stop.signal)
    const seen: number[] = []
    for await (const one of wrapped) {
      assert.equal(times(), 0)
      seen.push(one)
    }
    stop.abort()
    assert.deepEqual([seen, times()], [[1, 2], 1])
  })

  it('tells when its reader stops early', async () => {
    const {wrapped, times} = told()
    for await (const _one of wrapped) break
    assert.equal(times(), 1)
  })

  it('tells when the stream fails', async () => {
    const {wrapped, times} = told(undefined, failing())
    await assert.rejects(async () => {
      for await (const _one of wrapped);
    }, /broken/)
    assert.equal(times(), 1)
  })

  it('tells when the caller goes before anybody has begun to read', () => {
    const stop = new AbortController()
    const {times} = told(stop.signal)
    stop.abort()
    assert.equal(times(), 1)
  })

  it('tells at once where the caller has gone already', () => {
    assert.equal(told(AbortSignal.abort()).times(), 1)
  })
})

async function* failing(): AsyncGenerator<number> {
  yield await Promise.resolve(1)
  throw new Error('broken')
}
