import {homedir} from 'node:os'
import {join, resolve} from 'node:path'

/** The given folder, or the default folder of a control plane. */
export const dirOf = (named: string | undefined): string =>
  named === undefined ? defaultDir() : resolve(named)

/** The default folder of a control plane. */
export function defaultDir(
  environment: Record<string, string | undefined> = process.env,
  {isRoot = process.geteuid?.() === 0, home = homedir()} = {},
): string {
  if (environment.TRUSTADM_DIR) return resolve(environment.TRUSTADM_DIR)
  return isRoot ? '/var/lib/trustadm' : join(home, '.trustadm')
}

/** The given folder, or the default folder of a node. */
export const nodeDirOf = (named: string | undefined): string =>
  named === undefined ? defaultNodeDir() : resolve(named)

/** The default folder of a node. Never that of a control plane, which may be on the same machine. */
export function defaultNodeDir(
  environment: Record<string, string | undefined> = process.env,
  {isRoot = process.geteuid?.() === 0, home = homedir()} = {},
): string {
  if (environment.TRUSTADM_NODE_DIR) return resolve(environment.TRUSTADM_NODE_DIR)
  return isRoot ? '/var/lib/trustadm-node' : join(home, '.trustadm-node')
}
