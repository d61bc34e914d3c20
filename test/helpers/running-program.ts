import {spawn, type ChildProcess} from 'node:child_process'
import {PROGRAM} from './program.ts'

/** The built program, while it runs until it is told to stop. */
export interface RunningProgram {
  process: ChildProcess
  stderr: () => string
  stop: () => Promise<void>
}

/** Starts it, and waits until its standard output says that it is ready. */
export function startProgram(ready: RegExp, ...args: string[]): Promise<RunningProgram> {
  const child = spawn(process.execPath, [PROGRAM, ...args], {stdio: ['ignore', 'pipe', 'pipe']})
  let [output, errors] = ['', '']
  child.stderr.on('data', (chunk: Buffer) => (errors += chunk.toString()))
  const ended = new Promise<void>((resolve) => child.once('exit', () => resolve()))
  const stop = async () => {
    child.kill('SIGTERM')
    await ended
  }
  return new Promise((resolve, reject) => {
    child.stdout.on('data', (chunk: Buffer) => {
      output += chunk.toString()
      if (ready.test(output)) resolve({process: child, stderr: () => errors, stop})
    })
    void ended.then(() => reject(new Error(`it ended before it was ready: ${errors}`)))
  })
}
