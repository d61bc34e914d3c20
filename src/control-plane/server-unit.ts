import {userInfo} from 'node:os'
import {dirname, isAbsolute, relative, resolve} from 'node:path'
import {TrustError} from '../errors.ts'
import {requirePlainPath} from '../fs/file-checks.ts'
import {unitPath, unitText, type SystemdUnit} from '../node/systemd-unit.ts'
import {auditOf, certDirOf, type Plane} from './config/plane.ts'
import {SERVER_ENVIRONMENT} from './process-memory.ts'

const NAME = 'trustadm.service'

const isBelow = (folder: string, path: string): boolean => {
  const part = relative(folder, path)
  return !part.startsWith('..') && !isAbsolute(part)
}

/** The folders that the server writes to. */
function writable(plane: Plane): string[] {
  const folders = [certDirOf(plane), dirname(auditOf(plane).path)]
  return [plane.dir, ...folders.filter((folder) => !isBelow(plane.dir, folder))]
}

/** In a private /tmp the server would not find a folder there. */
const hidesNothing = (plane: Plane): boolean =>
  !writable(plane).some((folder) => isBelow('/tmp', folder) || isBelow('/var/tmp', folder))

/** Here systemd knows no quotes: what it would leave out, or join with the next line, cannot be written. */
function workingDirectory({dir}: Plane): string {
  if (!/[\s\\]$/u.test(dir)) return requirePlainPath(dir).replaceAll('%', '%%')
  throw new TrustError('USAGE', `${dir} cannot be in a systemd unit`, {
    hints: ['use a folder whose name does not end in a blank or a backslash'],
  })
}

/** What a unit has besides the settings of its control plane. */
export interface UnitOptions {
  /** More flags of `serve`. */
  flags?: readonly string[]
  user?: {uid: number; username: string}
}

/**
 * A systemd unit that runs the server of a control plane. `MemoryDenyWriteExecute` is not in it: Node.js compiles code at run time. Nor are
 * options that would hide the CAs which an operator may keep anywhere.
 */
export function serverUnit(
  plane: Plane,
  program: readonly string[],
  unitDir: string,
  {flags = [], user = userInfo()}: UnitOptions = {},
): SystemdUnit {
  const command = [...program, 'serve', '--dir', plane.dir, ...flags]
  const environment = Object.entries(SERVER_ENVIRONMENT).map(([name, value]) => `${name}=${value}`)
  const service = `Type=exec
WorkingDirectory=${workingDirectory(plane)}
Environment=${environment.join(' ')}
${user.uid === 0 ? '' : `User=${user.username}\n`}Restart=on-failure
RestartSec=5
TimeoutStopSec=90
LimitCORE=0
UMask=0077

NoNewPrivileges=yes
CapabilityBoundingSet=CAP_NET_BIND_SERVICE CAP_DAC_READ_SEARCH
ProtectSystem=strict
ReadWritePaths=${writable(plane).map(unitPath).join(' ')}
ProtectHome=read-only
${hidesNothing(plane) ? 'PrivateTmp=yes\n' : ''}PrivateDevices=yes
ProtectClock=yes
ProtectControlGroups=yes
ProtectHostname=yes
ProtectKernelLogs=yes
ProtectKernelModules=yes
ProtectKernelTunables=yes
RestrictAddressFamilies=AF_UNIX AF_INET AF_INET6 AF_NETLINK
RestrictNamespaces=yes
RestrictRealtime=yes
RestrictSUIDSGID=yes
LockPersonality=yes
`
  return {
    path: resolve(unitDir, NAME),
    content: unitText('The API server of a trustadm control plane', command, service),
  }
}
