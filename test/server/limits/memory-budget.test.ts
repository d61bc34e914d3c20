import assert from 'node:assert/strict'
import {memoryLimits, type MemoryLimits} from '../../../src/server/limits/memory-budget.ts'

const MIB = 2 ** 20

/** What callers hold if they take all that they can. */
const mostHeld = (limits: MemoryLimits): number =>
  limits.connections * 56 * 1024 +
  limits.watches * 24 * 1024 +
  limits.windowBytes +
  limits.exchangeBytes +
  limits.unsentBytes +
  limits.uploadBytes +
  limits.anonymousUploadBytes +
  limits.answerBytes +
  limits.anonymousAnswerBytes

describe('memoryLimits', () => {
  it('divides no more than there is beside the program itself and its garbage', () => {
    for (const memory of [256, 400, 2048, 16_384])
      assert.ok(
        mostHeld(memoryLimits(memory * MIB)) <= ((memory - 195) / 1.6) * MIB,
        `${memory} MiB`,
      )
  })

  it('is for 400 MiB by default', () => {
    assert.deepEqual(memoryLimits(), memoryLimits(400 * MIB))
  })

  it('lets one caller send the largest body even with the least memory', () => {
    const {uploadBytesPerIdentity} = memoryLimits(256 * MIB)
    assert.ok(uploadBytesPerIdentity > 3 * MIB + 16 * 1024, `${uploadBytesPerIdentity}`)
  })

  it('grows every limit with the memory', () => {
    const small = Object.values(memoryLimits(400 * MIB)) as number[]
    const large = Object.values(memoryLimits(800 * MIB)) as number[]
    large.forEach((limit, index) => assert.ok(limit > (small[index] ?? Infinity) * 2))
  })
})
