import {hasCode} from '../../errors.ts'
import type {WriteServices} from './write.ts'

/** Deletes an object that was just created. False if somebody has changed or deleted it, so that it is theirs by now. */
export async function takeBack(
  {storage}: WriteServices['registry'],
  {key, revision}: {key: string; revision: number},
): Promise<boolean> {
  try {
    await storage.delete(key, revision)
    return true
  } catch (error) {
    if (hasCode(error, 'CONFLICT', 'NOT_FOUND')) return false
    throw error
  }
}
