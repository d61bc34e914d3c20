import {homedir} from 'node:os'
import {join, resolve} from 'node:path'

/** Finds a default folder: the one that the variable names, else one for the whole system (root) or in the user's home. */
const defaultFolder =
  (variable: string, name: string) =>
  (
    environment: Record<string, string | undefined> = process.env,
    {isRoot = process.geteuid?.() === 0, home = homedir()} = {},
  ): string => {
    const named = environment[variable]
    if (named) return resolve(named)
    return isRoot ? join('/var/lib', name) : join(home, `.${name}`)
  }

/** The default folder of a control plane. */
export const defaultDir = defaultFolder('TRUSTADM_DIR', 'trustadm')

/** The default folder of a node. Never that of a control plane, which may be on the same machine. */
export const defaultNodeDir = defaultFolder('TRUSTADM_NODE_DIR', 'trustadm-node')

/** Where kubeadm keeps the files of a machine. */
export const KUBEADM_DIR = '/etc/kubernetes'
