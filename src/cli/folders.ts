import {resolve} from 'node:path'
import {defaultDir, defaultNodeDir} from '../fs/default-folders.ts'
import {requirePlainPath} from '../fs/file-checks.ts'

/** The given folder, or the default folder of a control plane. */
export const dirOf = (named: string | undefined): string =>
  requirePlainPath(named === undefined ? defaultDir() : resolve(named))

/** The given folder, or the default folder of a node. */
export const nodeDirOf = (named: string | undefined): string =>
  requirePlainPath(named === undefined ? defaultNodeDir() : resolve(named))
