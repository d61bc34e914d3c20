import {shellWord} from '../client/printable.ts'
import {defaultDir} from '../fs/default-folders.ts'

/** A command line for a control plane, without --dir if its folder is the default. */
export const planeCommand = (dir: string, command: string): string =>
  `trustadm ${command}${dir === defaultDir() ? '' : ` --dir ${shellWord(dir)}`}`
