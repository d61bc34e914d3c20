import {readdir, readFile} from 'node:fs/promises'

/** The fields of /proc/<pid>/stat after the name of the program, which is in parentheses and may contain anything. */
export async function statFields(pid: number): Promise<string[]> {
  const stat = await readFile(`/proc/${pid}/stat`, 'utf8')
  return stat.slice(stat.lastIndexOf(')') + 2).split(' ')
}

/** When the process started, and in which boot of the machine. Undefined if there is no such process. */
export async function processIdentity(pid: number): Promise<string | undefined> {
  try {
    process.kill(pid, 0)
  } catch {
    return undefined
  }
  try {
    const boot = (await readFile('/proc/sys/kernel/random/boot_id', 'utf8')).trim()
    const fields = await statFields(pid)
    return (await hasEnded(pid, fields)) ? undefined : `${boot}/${fields[19] ?? ''}`
  } catch {
    return ''
  }
}

/** A process whose first thread has ended keeps its files and locks until its last one has. */
async function hasEnded(pid: number, [state]: readonly string[]): Promise<boolean> {
  return state === 'Z' && (await readdir(`/proc/${pid}/task`)).length === 1
}

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
