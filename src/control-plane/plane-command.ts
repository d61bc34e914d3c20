import {basename} from 'node:path'
import {shellWord} from '../client/printable.ts'
import {defaultDir} from '../fs/default-folders.ts'
import {findUnit} from '../node/systemd-unit.ts'
import {fileOf, type Plane} from './config/plane.ts'

/** A command line for a control plane, without --dir if its folder is the default. */
export const planeCommand = (dir: string, command: string): string =>
  `trustadm ${command}${dir === defaultDir() ? '' : ` --dir ${shellWord(dir)}`}`

/** The unit that `init --systemd` installed for a control plane, by its name. */
export async function unitOf(plane: Pick<Plane, 'dir'>): Promise<string | undefined> {
  const unit = await findUnit(fileOf(plane, 'unitNote'))
  return unit && basename(unit.path)
}

/** The command that starts a stopped server. */
export async function startCommand(plane: Pick<Plane, 'dir'>): Promise<string> {
  const unit = await unitOf(plane)
  return unit === undefined ? planeCommand(plane.dir, 'start') : `systemctl start ${unit}`
}
