import {execFile} from 'node:child_process'
import {promisify} from 'node:util'
import {sleep} from '../../src/runtime.ts'
import type {Waits} from './waits.ts'

const run = promisify(execFile)
const EVERY = 5000
const PATIENCE = 30_000

/** A person looks now and then, on a machine that has kubectl. kubectl says how long each request took; its own start is not the server's. */
export async function lookByKubectl(
  kubeconfig: string,
  namespace: string,
  waits: Waits,
  signal: AbortSignal,
): Promise<void> {
  const args = ['get', 'configmaps', '-n', namespace, '--v=6', '--kubeconfig', kubeconfig]
  while (!signal.aborted) {
    await sleep(EVERY, signal)
    try {
      const {stderr} = await run('kubectl', args, {signal, timeout: PATIENCE})
      for (const milliseconds of requestTimes(stderr)) waits.note('kubectl', milliseconds)
    } catch (error) {
      if ((error as {code?: unknown}).code === 'ENOENT') return
      if (!signal.aborted) waits.refuse('kubectl', error)
    }
  }
}

/** Both of kubectl's ways to say it: `200 OK in 5 milliseconds`, and `milliseconds=5`. */
export const requestTimes = (log: string): number[] =>
  [...log.matchAll(/ in (\d+) milliseconds|\bmilliseconds=(\d+)/g)].map(([, one, other]) =>
    Number(one ?? other),
  )
