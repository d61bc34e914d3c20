import {readFile, readdir} from 'node:fs/promises'

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
export async function hasEnded(pid: number, [state]: readonly string[]): Promise<boolean> {
  return state === 'Z' && (await readdir(`/proc/${pid}/task`)).length === 1
}
