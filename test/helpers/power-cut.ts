import {readFileSync} from 'node:fs'
import {join} from 'node:path'

interface Recorded {
  pid: number
  runner?: {supervisor?: {pid: number}}
}

/** Ends the server of a folder as a power cut does, and what would restart it: both are of one group. Gives the process of the server. */
export function cutPower(dir: string): number {
  const text = readFileSync(join(dir, 'server.json'), 'utf8')
  const {pid, runner} = JSON.parse(text) as Recorded
  const group = runner?.supervisor?.pid
  kill(group === undefined ? pid : -group)
  return pid
}

function kill(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL')
  } catch {
    // It has ended already.
  }
}
