import {spawn, spawnSync, type ChildProcess} from 'node:child_process'
import {once} from 'node:events'
import {writeFile} from 'node:fs/promises'
import {join} from 'node:path'
import {createInterface} from 'node:readline'
import {until} from '../server/support.ts'

const has = (program: string): boolean =>
  spawnSync(program, ['--version'], {stdio: 'ignore'}).status === 0

/** Why tests with a real Prometheus cannot run here; undefined if they can. */
export const whyNoPrometheus = (): string | undefined =>
  has('prometheus') && has('promtool')
    ? undefined
    : 'prometheus and promtool are not installed (Debian: the package prometheus)'

export interface RunningPrometheus {
  /** The data of an answer of its HTTP API. */
  get<Data>(path: string): Promise<Data>
  stop(): Promise<void>
}

/** Starts a Prometheus on loopback, on a port that the system picks, with everything in the folder. */
export async function startPrometheus(folder: string, config: string): Promise<RunningPrometheus> {
  const file = join(folder, 'prometheus.yaml')
  await writeFile(file, config)
  const child = spawn(
    'prometheus',
    [
      `--config.file=${file}`,
      `--storage.tsdb.path=${join(folder, 'data')}`,
      '--web.listen-address=127.0.0.1:0',
    ],
    {stdio: ['ignore', 'ignore', 'pipe']},
  )
  const stop = async () => {
    child.kill('SIGTERM')
    if (child.exitCode === null && child.signalCode === null) await once(child, 'exit')
  }
  try {
    const url = `http://127.0.0.1:${await listeningPort(child)}`
    // It listens before it can answer.
    await until(async () => (await fetch(`${url}/-/ready`)).ok)
    return {
      async get<Data>(path: string) {
        const response = await fetch(`${url}/api/v1/${path}`)
        return ((await response.json()) as {data: Data}).data
      },
      stop,
    }
  } catch (error) {
    await stop()
    throw error
  }
}

async function listeningPort(child: ChildProcess): Promise<string> {
  const seen: string[] = []
  if (child.stderr === null) throw new Error('prometheus has no standard error')
  const lines = createInterface({input: child.stderr})
  for await (const line of lines) {
    seen.push(line)
    const [, port] = /msg="Listening on" address=127\.0\.0\.1:(\d+)/.exec(line) ?? []
    if (port === undefined || port === '0') continue
    // Read on: a full pipe would stop it.
    child.stderr.resume()
    return port
  }
  throw new Error(`prometheus did not start:\n${seen.join('\n')}`)
}
