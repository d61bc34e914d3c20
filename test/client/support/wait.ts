import assert from 'node:assert/strict'
import {setTimeout as delay} from 'node:timers/promises'

/** Waits until a condition holds; fails with what it was told to say. */
export async function eventually(
  condition: () => boolean,
  message: string | (() => string),
  limit = 8000,
): Promise<void> {
  const end = Date.now() + limit
  while (!condition()) {
    if (Date.now() > end) assert.fail(typeof message === 'string' ? message : message())
    await delay(5)
  }
}
