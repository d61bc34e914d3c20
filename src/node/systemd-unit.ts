import {createHash} from 'node:crypto'
import {readlink, rm} from 'node:fs/promises'
import {basename, dirname, join, resolve} from 'node:path'
import {shellWord} from '../client/printable.ts'
import {lookAt, requirePlainPath} from '../fs/file-checks.ts'
import {readFileIfThere} from '../fs/files.ts'
import {syncFolder} from '../fs/folders.ts'
import {ensureFile} from './node-files.ts'

/** A systemd unit, and where it belongs. */
export interface SystemdUnit {
  path: string
  content: string
}

/** systemd reads it as root, and everybody may. */
const MODE = 0o644

const quoted = (text: string): string =>
  /^[\w@%+=:,./$-]+$/.test(text) ? text : `"${text.replaceAll(/["\\]/g, String.raw`\$&`)}"`

/** One of the paths in a setting, in which quotes and `%` have a meaning. A line break would begin another setting: it is refused. */
export const unitPath = (path: string): string =>
  quoted(requirePlainPath(path).replaceAll('%', '%%'))

/** A word of systemd's command line, in which `$` has a meaning, too. */
export const unitWord = (text: string): string =>
  quoted(requirePlainPath(text).replaceAll('%', '%%').replaceAll('$', '$$$$'))

/** The text of a unit that runs a command once the network is there. `service` has the other lines of its section. */
export const unitText = (
  description: string,
  command: readonly string[],
  service: string,
): string => `[Unit]
Description=${description}
Wants=network-online.target
After=network-online.target

[Service]
ExecStart=${command.map(unitWord).join(' ')}
ExecReload=/bin/kill -HUP $MAINPID
${service}
[Install]
WantedBy=multi-user.target
`

interface UnitNote {
  path: string
  sha256: string
}

const digestOf = (content: string | Buffer): string =>
  createHash('sha256').update(content).digest('hex')

/**
 * Writes the unit unless it is there already. An interruption leaves the old one or the new one. `note` is the file that records
 * what was installed.
 */
export async function installUnit(note: string, {path, content}: SystemdUnit): Promise<void> {
  // First: what is noted here, and still has this content, is removed later.
  const noted = {path, sha256: digestOf(content)} satisfies UnitNote
  await ensureFile({path: note, content: `${JSON.stringify(noted)}\n`})
  await ensureFile({path, content, mode: MODE})
}

/** A unit that trustadm installed. */
export interface InstalledUnit {
  path: string
  /** Whether it is still as it was. */
  isOurs: boolean
}

/** The unit that the note names, if it is there. */
export async function findUnit(note: string): Promise<InstalledUnit | undefined> {
  const noted = parseNote(await readFileIfThere(note))
  if (!noted || !(await lookAt(noted.path))) return undefined
  const content = await readFileIfThere(noted.path).catch(() => undefined)
  const isOurs = content !== undefined && digestOf(content) === noted.sha256
  return {path: noted.path, isOurs}
}

function parseNote(text: Buffer | undefined): UnitNote | undefined {
  try {
    const {path, sha256} = JSON.parse(text?.toString() ?? '{}') as Partial<UnitNote>
    return typeof path === 'string' && typeof sha256 === 'string' ? {path, sha256} : undefined
  } catch {
    return undefined
  }
}

/** What became of a unit that was to be removed. */
export interface RemovedUnit {
  path: string
  removed: boolean
  /** What is left to do. */
  commands: string[]
}

const RELOAD = 'systemctl daemon-reload'

/** Removes the unit that the note names, with the link that enables it; undefined if there is none. */
export async function removeUnit(note: string): Promise<RemovedUnit | undefined> {
  const unit = await findUnit(note)
  if (!unit) return undefined
  const {path, isOurs} = unit
  const name = basename(path)
  const byHand = {
    path,
    removed: false,
    commands: [`systemctl disable --now ${name}`, `rm ${shellWord(path)}`, RELOAD],
  }
  if (!isOurs) return byHand
  try {
    const link = join(dirname(path), 'multi-user.target.wants', name)
    const target = await readlink(link).catch(() => undefined)
    if (target !== undefined && resolve(dirname(link), target) === path) await rm(link)
    await rm(path)
    await syncFolder(dirname(path))
    return {path, removed: true, commands: [RELOAD]}
  } catch {
    // Usually only root may.
    return byHand
  }
}
