import {readdir} from 'node:fs/promises'
import {hasEnded, statFields} from './process-identity.ts'

/** The processes of a group that still run. Empty if the system does not tell. */
export async function membersOf(group: number): Promise<number[]> {
  const names = await readdir('/proc').catch(() => [])
  const pids = names.filter((name) => /^\d+$/.test(name)).map(Number)
  const found = await Promise.all(
    pids.map(async (pid) => {
      // One that ends meanwhile has no file any more.
      const fields = await statFields(pid).catch(() => [])
      if (Number(fields[2]) !== group) return undefined
      return (await hasEnded(pid, fields).catch(() => true)) ? undefined : pid
    }),
  )
  return found.filter((pid) => pid !== undefined)
}
