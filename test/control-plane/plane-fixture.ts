import {mkdtemp, rm} from 'node:fs/promises'
import {tmpdir} from 'node:os'
import {join} from 'node:path'
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
  remove: () => Promise<void>
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
    remove: () => rm(dir, {recursive: true, force: true}),
  }
}
