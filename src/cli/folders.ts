import {resolve} from 'node:path'
import {defaultDir, defaultNodeDir} from '../fs/default-folders.ts'

/** The given folder, or the default folder of a control plane. */
export const dirOf = (named: string | undefined): string =>
  named === undefined ? defaultDir() : resolve(named)

/** The given folder, or the default folder of a node. */
export const nodeDirOf = (named: string | undefined): string =>
  named === undefined ? defaultNodeDir() : resolve(named)
