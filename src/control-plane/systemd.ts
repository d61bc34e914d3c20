import {execFile} from 'node:child_process'
import {basename} from 'node:path'
import {TrustError} from '../errors.ts'
import {readFileIfThere} from '../fs/files.ts'
import {
  findUnit,
  installUnit,
  removeUnit,
  unitWord,
  type RemovedUnit,
} from '../node/systemd-unit.ts'
import {fileOf, type Plane} from './config/plane.ts'
import {serverUnit} from './server-unit.ts'
import {waitForUnit} from './server-process.ts'
import {reserveStartFailure, type ServerState} from './server-state.ts'

const PATIENCE = 60_000

interface Ended {
  code: number
  output: string
}

/** Runs systemctl; a missing program ends with 127, as in a shell. */
function systemctl(...args: string[]): Promise<Ended> {
  return new Promise((resolve) => {
    execFile('systemctl', args, {timeout: PATIENCE}, (error, stdout, stderr) => {
      const code = error === null ? 0 : typeof error.code === 'number' ? error.code : 127
      resolve({code, output: `${stdout}${stderr}`.trim()})
    })
  })
}

const BY_HAND =
  'print a unit with "trustadm serve --print-unit", and install it where systemd runs; or leave out --systemd'

/** Refuses where this program cannot install a unit. To be called before anything is changed. */
export async function requireSystemd(): Promise<void> {
  if (process.geteuid?.() !== 0) {
    throw new TrustError('PREFLIGHT_FAILED', 'only root can install a systemd unit', {
      hints: ['run the command as root', BY_HAND],
    })
  }
  const {code, output} = await systemctl('is-system-running')
  // It also ends with an error where a unit has failed, but then says "degraded".
  const [state = ''] = output.split('\n')
  if (code === 0 || /^(?:initializing|starting|running|degraded|maintenance)$/.test(state)) return
  throw new TrustError('PREFLIGHT_FAILED', 'systemd does not run on this machine', {
    hints: [BY_HAND],
  })
}

async function requireDone(unit: string, ...args: string[]): Promise<void> {
  const {code, output} = await systemctl(...args)
  if (code === 0) return
  const [reason = ''] = output.split('\n')
  throw new TrustError(
    'SERVER_NOT_STARTED',
    `"systemctl ${args.join(' ')}" failed${reason === '' ? '' : `: ${reason}`}`,
    {hints: [`look at "systemctl status ${unit}" and "journalctl -u ${unit}"`]},
  )
}

/** Refuses to replace the unit of another control plane. To be called before anything is changed. */
export async function requireOwnUnit(
  plane: Plane,
  program: readonly string[],
  unitDir: string,
): Promise<void> {
  const {path} = serverUnit(plane, program, unitDir)
  const present = (await readFileIfThere(path))?.toString()
  if (present === undefined) return
  const command = `serve --dir ${unitWord(plane.dir)} `
  const isOwn = present
    .split('\n')
    .some((line) => line.startsWith('ExecStart=') && `${line} `.includes(` ${command}`))
  if (isOwn) return
  throw new TrustError('CONFLICT', `${path} runs something other than the server of ${plane.dir}`, {
    hints: [
      'if it is of a control plane that is gone, remove the file and run the command again',
      BY_HAND,
    ],
  })
}

/** Installs and enables the unit of a control plane, starts it and waits until the server is ready. */
export async function startWithSystemd(
  plane: Plane,
  program: readonly string[],
  unitDir: string,
): Promise<ServerState> {
  await requireOwnUnit(plane, program, unitDir)
  const unit = serverUnit(plane, program, unitDir)
  const name = basename(unit.path)
  await installUnit(fileOf(plane, 'unitNote'), unit)
  await reserveStartFailure(plane)
  await requireDone(name, 'daemon-reload')
  await requireDone(name, 'enable', '--now', name)
  return await waitForUnit(plane, name)
}

/** Stops, disables and removes the unit that `init` installed; undefined if there is none. */
export async function removeServerUnit(plane: Plane): Promise<RemovedUnit | undefined> {
  const note = fileOf(plane, 'unitNote')
  const unit = await findUnit(note)
  if (!unit) return undefined
  const name = basename(unit.path)
  const stopped = unit.isOurs ? await systemctl('disable', '--now', name) : undefined
  const removed = await removeUnit(note)
  if (!removed?.removed || stopped?.code !== 0) return removed
  return (await systemctl('daemon-reload')).code === 0 ? {...removed, commands: []} : removed
}
