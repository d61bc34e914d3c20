import {spawn} from 'node:child_process'
import type {ChildProcess} from 'node:child_process'
import {fileURLToPath} from 'node:url'

export interface Acknowledged {
  key: string
  revision: number
  /** What the value is made of; absent for a deletion. */
  content?: string
}

/** A process that writes to the store without end and tells of every write it got acknowledged. */
export interface Writer {
  process: ChildProcess
  log: Acknowledged[]
  /** Resolves when so many writes are acknowledged. */
  acknowledged: (count: number) => Promise<void>
}

export function startWriter(folder: string, round = 0): Writer {
  const script = fileURLToPath(new URL('crash-writer.ts', import.meta.url))
  const child = spawn(process.execPath, ['--import', 'tsx', script, folder, String(round)], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const log: Acknowledged[] = []
  let waiting: {count: number; resolve: () => void}[] = []
  let rest = ''
  child.stdout.on('data', (data: Buffer) => {
    const lines = (rest + data.toString()).split('\n')
    // What was cut off by the kill was never wholly told.
    rest = lines.pop() ?? ''
    for (const line of lines) log.push(JSON.parse(line) as Acknowledged)
    for (const {count, resolve} of waiting) if (log.length >= count) resolve()
    waiting = waiting.filter(({count}) => log.length < count)
  })
  const acknowledged = (count: number) =>
    new Promise<void>((resolve, reject) => {
      if (log.length >= count) resolve()
      waiting.push({count, resolve})
      child.once('exit', () => reject(new Error('the writer ended')))
    })
  return {process: child, log, acknowledged}
}
