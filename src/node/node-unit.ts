import {join} from 'node:path'
import {ensureFile} from './node-files.ts'

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
    path: join(unitDir, NAME),
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
export async function installUnit({path, content}: Pick<NodeUnit, 'path' | 'content'>) {
  await ensureFile({path, content, mode: MODE})
}
