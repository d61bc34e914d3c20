import {execFile} from 'node:child_process'
import {existsSync, readFileSync, readdirSync, rmSync} from 'node:fs'
import {mkdtemp, readFile, rm} from 'node:fs/promises'
import {tmpdir} from 'node:os'
import {join} from 'node:path'
import {fileURLToPath} from 'node:url'
import {promisify} from 'node:util'
import {onEtcd} from './on-etcd.ts'
import {cutPower} from './power-cut.ts'

/** What `init --output json` says of a cluster that matters here. */
interface Initialised {
  endpoint: string
  /** The path of the admin's kubeconfig. */
  kubeconfig: string
  /** The bootstrap token that init made. */
  token: string
  /** The pins of its CAs. */
  caCertHashes: string[]
}

/** The built program, for `node`. */
export const PROGRAM = fileURLToPath(new URL('../../bin/run.js', import.meta.url))
const BUILT = fileURLToPath(new URL('../../dist/common.js', import.meta.url))
const STOP_TIMEOUT = 15_000

export interface Cluster extends Initialised {
  dir: string
  /** Ends its server without a warning, as a power cut does. */
  killServer(): Promise<void>
  stop(): Promise<void>
}

const run = promisify(execFile)

/** Sets up a control plane with the built program, in a folder of its own, and leaves nothing behind. */
export async function startCluster(...flags: string[]): Promise<Cluster> {
  if (!existsSync(BUILT)) throw new Error('the program is not built: run "npm run build" first')
  const home = await mkdtemp(join(tmpdir(), 'trustadm-e2e-'))
  const dir = join(home, 'cluster')
  const args = ['--dir', dir, '--bind-address', '127.0.0.1', '--output', 'json']
  const place = ['--apiserver-advertise-address', '127.0.0.1', '--apiserver-bind-port', '0']
  try {
    const {stdout} = await run(process.execPath, [PROGRAM, 'init', ...args, ...place, ...flags], {
      env: {PATH: process.env.PATH, HOME: home, NODE_OPTIONS: process.env.NODE_OPTIONS, ...onEtcd},
      timeout: 60_000,
    })
    const {endpoint, kubeconfig, token, caCertHashes} = JSON.parse(stdout) as Initialised
    const pid = await serverProcess(dir)
    unfinished.set(pid, home)
    let running = true
    return {
      endpoint,
      kubeconfig,
      token,
      caCertHashes,
      dir,
      async killServer() {
        if (running) cutPower(dir)
        await end(pid, 'SIGKILL')
        running = false
      },
      async stop() {
        if (running) await end(pid, 'SIGTERM')
        unfinished.delete(pid)
        await rm(home, {recursive: true, force: true})
      },
    }
  } catch (error) {
    const pid = await serverProcess(dir).catch(() => undefined)
    if (pid) await end(pid, 'SIGKILL')
    await rm(home, {recursive: true, force: true})
    throw error
  }
}

async function serverProcess(dir: string): Promise<number> {
  const {pid} = JSON.parse(await readFile(join(dir, 'server.json'), 'utf8')) as {pid: number}
  return pid
}

/** It is no child of this process, so that its end must be looked for. */
async function end(pid: number, signal: NodeJS.Signals): Promise<void> {
  const deadline = performance.now() + STOP_TIMEOUT
  if (isRunning(pid)) process.kill(pid, signal)
  while (isRunning(pid)) {
    if (performance.now() > deadline) {
      process.kill(pid, 'SIGKILL')
      throw new Error(`the server, process ${pid}, did not end by ${signal}`)
    }
    await new Promise((resolve) => setTimeout(resolve, 50))
  }
}

/** Whether a process is there, by whomever it was started. */
export function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return !isZombie(pid)
  } catch {
    return false
  }
}

/** In a container, nobody may be there to collect what has ended. Until its last thread has, it keeps its files and locks. */
function isZombie(pid: number): boolean {
  try {
    const isEnded = readFileSync(`/proc/${pid}/stat`, 'utf8').includes(' Z ')
    return isEnded && readdirSync(`/proc/${pid}/task`).length === 1
  } catch {
    return false
  }
}

let shared: Promise<Cluster> | undefined

/** One cluster for all e2e files that a process runs: they work in namespaces, and with names, of their own. */
export const sharedCluster = (): Promise<Cluster> => (shared ??= startCluster())

/** If files run in parallel, mocha calls this after each of them. The processes stop their cluster when they end, see below. */
export const mochaHooks = {
  async afterAll(): Promise<void> {
    if (process.env.MOCHA_WORKER_ID !== undefined) return
    const cluster = await shared
    shared = undefined
    await cluster?.stop()
  },
}

/** Servers that nobody has stopped, with their folders: of a run that was interrupted, and shared ones. */
const unfinished = new Map<number, string>()

process.once('exit', () => {
  for (const [pid, folder] of unfinished) {
    if (isRunning(pid)) process.kill(pid, 'SIGTERM')
    const deadline = performance.now() + STOP_TIMEOUT
    while (isRunning(pid) && performance.now() < deadline) pause(20)
    if (isRunning(pid)) process.kill(pid, 'SIGKILL')
    rmSync(folder, {recursive: true, force: true})
  }
})

/** Waits where nothing asynchronous happens any more. */
const pause = (milliseconds: number) =>
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, milliseconds)
