import {spawn, type ChildProcess} from 'node:child_process'
import {PROGRAM} from './program.ts'

/** The built program in the foreground, until it is told to stop. */
export interface Running {
  process: ChildProcess
  /** What it has logged so far. */
  stderr: () => string
  /** Asks it to end, and gives its exit code. */
  stop: () => Promise<number | null>
}

export interface Starting extends Running {
  /** Resolves with its first line, "ready …"; rejects if it ends before. */
  ready: Promise<string>
}

/** Starts it, and does not wait until it is ready. */
export function begin(...args: string[]): Starting {
  const child = spawn(process.execPath, [PROGRAM, ...args], {stdio: ['ignore', 'pipe', 'pipe']})
  let errors = ''
  child.stderr.on('data', (chunk: Buffer) => (errors += chunk.toString()))
  const ended = new Promise<number | null>((resolve) => child.once('close', resolve))
  const ready = new Promise<string>((resolve, reject) => {
    let output = ''
    child.stdout.on('data', (chunk: Buffer) => {
      output += chunk.toString()
      const [line] = /^ready .*(?=\n)/.exec(output) ?? []
      if (line !== undefined) resolve(line)
    })
    void ended.then(() => reject(new Error(`${args.join(' ')} ended: ${errors}`)))
  })
  // Whoever does not wait for it need not know.
  ready.catch(() => undefined)
  const stop = async () => {
    child.kill('SIGTERM')
    return await ended
  }
  return {process: child, stderr: () => errors, stop, ready}
}

/** Starts it, and waits until it is ready. */
export async function start(...args: string[]): Promise<Running> {
  const running = begin(...args)
  await running.ready
  return running
}
