import type {CommandTable} from '../cli/manifest.ts'

/** Every command of the program, each in a file that is loaded only when it runs. */
export const COMMANDS: CommandTable = {
  version: () => import('./version.ts'),
}
