import {execFile} from 'node:child_process'
import {mkdtemp, readFile, rm} from 'node:fs/promises'
import {tmpdir} from 'node:os'
import {join} from 'node:path'
import {fileURLToPath} from 'node:url'
import {findPlane} from '../../src/control-plane/config/stored.ts'
import {reset} from '../../src/control-plane/reset.ts'

export const PROGRAM = fileURLToPath(new URL('../../bin/run.js', import.meta.url))
export const LOCAL = ['--bind-address', '127.0.0.1', '--apiserver-bind-port', '0']

export interface Ended {
  code: number
  stdout: string
  stderr: string
}

/** Runs the built program to its end. */
export const trustadm = (...args: string[]): Promise<Ended> => trustadmWith({}, ...args)

export interface ProgramOptions {
  /** What it reads from the standard input. */
  input?: string
  /** More variables of its environment. */
  env?: Record<string, string>
}

export function trustadmWith({input, env}: ProgramOptions, ...args: string[]): Promise<Ended> {
  return new Promise((resolve) => {
    const options = {env: {...process.env, ...env}}
    const child = execFile(
      process.execPath,
      [PROGRAM, ...args],
      options,
      (error, stdout, stderr) => {
        resolve({code: error === null ? 0 : Number(error.code ?? -1), stdout, stderr})
      },
    )
    // One that ends without reading is no failure of the test.
    child.stdin?.on('error', () => undefined).end(input)
  })
}

/** As `trustadm reset`, if there is a control plane; without the start of one more process. */
export async function removePlane(dir: string): Promise<void> {
  // A test that has damaged the settings has ended the server itself.
  const plane = await findPlane(dir).catch(() => undefined)
  if (plane) await reset(plane)
}

/** A folder for one control plane on the loopback. */
export interface ProgramFixture {
  folder: string
  dir: string
  init: (...more: string[]) => Promise<Ended>
  serverPid: () => Promise<number>
  remove: () => Promise<void>
}

export async function programFixture(): Promise<ProgramFixture> {
  const folder = await mkdtemp(join(tmpdir(), 'trustadm-program-'))
  const dir = join(folder, 'plane')
  return {
    folder,
    dir,
    init: (...more) => trustadm('init', '--dir', dir, ...LOCAL, ...more),
    serverPid: async () =>
      (JSON.parse(await readFile(join(dir, 'server.json'), 'utf8')) as {pid: number}).pid,
    remove: async () => {
      await removePlane(dir)
      await rm(folder, {recursive: true, force: true})
    },
  }
}
