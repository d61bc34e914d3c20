import {readdir} from 'node:fs/promises'
import {statFields} from './process-identity.ts'

/** The processes of a group that still run. Empty if the system does not tell. */
export async function membersOf(group: number): Promise<number[]> {
  const names = await readdir('/proc').catch(() => [])
  const pids = names.filter((name) => /^\d+$/.test(name)).map(Number)
  const found = await Promise.all(
    pids.map(async (pid) => {
      // One that ends meanwhile has no file any more.
      const [state, , itsGroup] = await statFields(pid).catch(() => [])
      return state !== 'Z' && Number(itsGroup) === group ? pid : undefined
    }),
  )
  return found.filter((pid) => pid !== undefined)
}
