import {homedir} from 'node:os'
import {join, resolve} from 'node:path'

/** The folder that was named, else where a control plane lives that nobody named a folder for. */
export const dirOf = (named: string | undefined): string =>
  named === undefined ? defaultDir() : resolve(named)

/** Where a control plane lives that nobody named a folder for. */
export function defaultDir(
  environment: Record<string, string | undefined> = process.env,
  {isRoot = process.geteuid?.() === 0, home = homedir()} = {},
): string {
  if (environment.TRUSTADM_DIR) return resolve(environment.TRUSTADM_DIR)
  return isRoot ? '/var/lib/trustadm' : join(home, '.trustadm')
}

/** The folder that was named, else where this machine keeps its own node. */
export const nodeDirOf = (named: string | undefined): string =>
  named === undefined ? defaultNodeDir() : resolve(named)

/** Where this machine keeps its own node: beside a control plane, which may be on the same machine, and never in its folder. */
export function defaultNodeDir(
  environment: Record<string, string | undefined> = process.env,
  {isRoot = process.geteuid?.() === 0, home = homedir()} = {},
): string {
  if (environment.TRUSTADM_NODE_DIR) return resolve(environment.TRUSTADM_NODE_DIR)
  return isRoot ? '/var/lib/trustadm-node' : join(home, '.trustadm-node')
}
