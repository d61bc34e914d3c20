import {createHash} from 'node:crypto'
import {rm} from 'node:fs/promises'
import {dirname, join, resolve} from 'node:path'
import {shellWord} from '../client/printable.ts'
import {lookAt} from '../fs/file-checks.ts'
import {readFileIfThere} from '../fs/files.ts'
import {syncFolder} from '../fs/folders.ts'
import {ensureFile, nodeFile} from './node-files.ts'

/** A systemd unit for `node run`. */
export interface NodeUnit {
  path: string
  content: string
  /** Whether it was written to its path. */
  isInstalled: boolean
}

const NAME = 'trustadm-node.service'
/** systemd reads it as root, and everybody may. */
const MODE = 0o644

/** A word of systemd's command line, in which quotes, `$` and `%` have a meaning. */
const wordOf = (text: string): string => {
  const safe = text.replaceAll('%', '%%').replaceAll('$', '$$$$')
  return /^[\w@%+=:,./$-]+$/.test(safe) ? safe : `"${safe.replaceAll(/["\\]/g, String.raw`\$&`)}"`
}

/** What keeps the node of this machine a member of its cluster. `program` is the command line of this program. */
export function nodeUnit(
  {dir, certDir}: {dir: string; certDir: string},
  program: readonly string[],
  unitDir: string,
): Omit<NodeUnit, 'isInstalled'> {
  const command = [...program, 'node', 'run', '--dir', dir, '--cert-dir', certDir]
  return {
    path: resolve(unitDir, NAME),
    content: `[Unit]
Description=Keeps this machine a member of its cluster
Wants=network-online.target
After=network-online.target

[Service]
ExecStart=${command.map(wordOf).join(' ')}
ExecReload=/bin/kill -HUP $MAINPID
Restart=always
RestartSec=10

[Install]
WantedBy=multi-user.target
`,
  }
}

/** Writes the unit unless it is there already. An interruption leaves the old one or the new one. */
export async function installUnit(
  dir: string,
  {path, content}: Pick<NodeUnit, 'path' | 'content'>,
): Promise<void> {
  // First: `node leave` removes what is noted here and still has this content.
  const note = {path, sha256: digestOf(content)} satisfies UnitNote
  await ensureFile({path: nodeFile(dir, 'unitNote'), content: `${JSON.stringify(note)}\n`})
  await ensureFile({path, content, mode: MODE})
}

interface UnitNote {
  path: string
  sha256: string
}

const digestOf = (content: string | Buffer): string =>
  createHash('sha256').update(content).digest('hex')

/** A unit that `join` installed. */
export interface InstalledUnit {
  path: string
  /** Whether it is still as it was. */
  isOurs: boolean
}

/** The unit that `join` installed for the node of a folder, if it is there. */
export async function findUnit(dir: string): Promise<InstalledUnit | undefined> {
  const note = parseNote(await readFileIfThere(nodeFile(dir, 'unitNote')))
  if (!note || !(await lookAt(note.path))) return undefined
  const content = await readFileIfThere(note.path).catch(() => undefined)
  const isOurs = content !== undefined && digestOf(content) === note.sha256
  return {path: note.path, isOurs}
}

function parseNote(text: Buffer | undefined): UnitNote | undefined {
  try {
    const {path, sha256} = JSON.parse(text?.toString() ?? '{}') as Partial<UnitNote>
    return typeof path === 'string' && typeof sha256 === 'string' ? {path, sha256} : undefined
  } catch {
    return undefined
  }
}

/** What became of the unit when the node left. */
export interface RemovedUnit {
  path: string
  removed: boolean
  /** What is left to do. */
  commands: string[]
}

const RELOAD = 'systemctl daemon-reload'

/** Removes the unit that `join` installed, with the link that enables it; undefined if there is none. */
export async function removeUnit(dir: string): Promise<RemovedUnit | undefined> {
  const unit = await findUnit(dir)
  if (!unit) return undefined
  const {path, isOurs} = unit
  const byHand = {
    path,
    removed: false,
    commands: [`systemctl disable --now ${NAME}`, `rm ${shellWord(path)}`, RELOAD],
  }
  if (!isOurs) return byHand
  try {
    const link = join(dirname(path), 'multi-user.target.wants', NAME)
    if ((await lookAt(link))?.isSymbolicLink()) await rm(link)
    await rm(path)
    await syncFolder(dirname(path))
    return {path, removed: true, commands: [RELOAD]}
  } catch {
    // Usually only root may.
    return byHand
  }
}
