import {createHash} from 'node:crypto'
import {mkdir, mkdtemp, readFile, readdir, rm, writeFile} from 'node:fs/promises'
import {tmpdir} from 'node:os'
import {dirname, join} from 'node:path'
import {connectAsAdmin} from '../../src/control-plane/admin.ts'
import {resolvePlane} from '../../src/control-plane/config/resolve.ts'
import type {Choices} from '../../src/control-plane/config/settings.ts'
import {INIT_PHASES, runInit} from '../../src/control-plane/init/init.ts'
import type {InitPhaseName} from '../../src/control-plane/init/names.ts'
import type {InitContext} from '../../src/control-plane/init/phase.ts'
import {systemClock} from '../../src/runtime.ts'

export interface PlaneFixture {
  dir: string
  lines: string[]
  context: InitContext
  run: (...phases: InitPhaseName[]) => Promise<void>
  /**
   * For a new folder, and tests that are not about these phases: has the files that they write, without making keys and certificates
   * for each test. Fixtures with the same choices get the same ones.
   */
  provide: (...phases: FilePhase[]) => Promise<void>
  /** The same for what `make` writes to the new folder: fixtures with the same name get what the first one has written. */
  provideAs: (name: string, make: () => Promise<void>) => Promise<void>
  remove: () => Promise<void>
}

/** The phases that only write files. */
type FilePhase = Extract<InitPhaseName, 'certs' | 'kubeconfig'>

/** What phases have written. */
interface Written {
  dir: string
  port: number
  files: {path: string; text: string}[]
}

const written = new Map<string, Promise<Written>>()

async function write(choices: Choices, phases: FilePhase[]): Promise<Written> {
  const {dir, context, run, remove} = await planeFixture(choices)
  try {
    await run(...phases)
    return await readWritten(dir, context)
  } finally {
    await remove()
  }
}

async function readWritten(dir: string, {plane}: InitContext): Promise<Written> {
  const entries = await readdir(dir, {recursive: true, withFileTypes: true})
  const paths = entries
    .filter((entry) => entry.isFile())
    .map(({parentPath, name}) => join(parentPath, name))
  const read = async (path: string) => ({
    path: path.slice(dir.length + 1),
    text: await readFile(path, 'utf8'),
  })
  const files = await Promise.all(paths.map(read))
  return {dir, port: plane.settings.bindPort, files}
}

const hashOf = (text: string): string => createHash('sha256').update(text).digest('hex')

/** With the folder and the port of another fixture, which are in the settings and the kubeconfigs; the manifest has their hashes. */
async function copy(from: Written, to: Omit<Written, 'files'>): Promise<void> {
  const hashes = new Map<string, string>()
  const adapted = from.files.map(({path, text}) => {
    const own = text
      .replaceAll(from.dir, to.dir)
      .replaceAll(`:${from.port}`, `:${to.port}`)
      .replaceAll(`: ${from.port}`, `: ${to.port}`)
    hashes.set(hashOf(text), hashOf(own))
    return {path, text: own}
  })
  for (const {path, text} of adapted) {
    await mkdir(dirname(join(to.dir, path)), {recursive: true, mode: 0o700})
    const own = text.replace(/[0-9a-f]{64}/g, (hash) => hashes.get(hash) ?? hash)
    await writeFile(join(to.dir, path), own, {mode: 0o600, flag: 'wx'})
  }
}

/** A control plane on the loopback, in a folder of its own. */
export async function planeFixture(choices: Choices = {}, folder?: string): Promise<PlaneFixture> {
  const dir = folder ?? (await mkdtemp(join(tmpdir(), 'trustadm-plane-')))
  const lines: string[] = []
  const plane = await resolvePlane({
    dir,
    flags: {bindAddress: '127.0.0.1', bindPort: 0, nodeName: 'one', ...choices},
  })
  const context: InitContext = {
    plane,
    clock: systemClock,
    tell: (line) => lines.push(line),
    warn: (line) => lines.push(line),
    program: [],
    connect: connectAsAdmin,
  }
  const observer = {begin: () => undefined, end: () => undefined}
  return {
    dir,
    lines,
    context,
    run: (...names) =>
      runInit(
        names.map((name) => INIT_PHASES[name]),
        context,
        observer,
        () => Promise.resolve(context.plane),
      ),
    provide: async (...phases) => {
      const key = JSON.stringify([choices, phases])
      const made = written.get(key) ?? write(choices, phases)
      written.set(key, made)
      await copy(await made, {dir, port: context.plane.settings.bindPort})
    },
    provideAs: async (name, make) => {
      const made = await written.get(name)
      if (made) return copy(made, {dir, port: context.plane.settings.bindPort})
      await make()
      written.set(name, readWritten(dir, context))
      await written.get(name)
    },
    remove: () => rm(dir, {recursive: true, force: true}),
  }
}
