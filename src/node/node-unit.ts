import {resolve} from 'node:path'
import {unitText, type SystemdUnit} from './systemd-unit.ts'

/** A systemd unit for `node run`. */
export interface NodeUnit extends SystemdUnit {
  /** Whether it was written to its path. */
  isInstalled: boolean
}

const NAME = 'trustadm-node.service'
const SERVICE = `Restart=always
RestartSec=10
`

/** What keeps the node of this machine a member of its cluster. `program` is the command line of this program. */
export function nodeUnit(
  {dir, certDir}: {dir: string; certDir: string},
  program: readonly string[],
  unitDir: string,
): SystemdUnit {
  const command = [...program, 'node', 'run', '--dir', dir, '--cert-dir', certDir]
  return {
    path: resolve(unitDir, NAME),
    content: unitText('Keeps this machine a member of its cluster', command, SERVICE),
  }
}
