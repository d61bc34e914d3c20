import type {CommandTable} from '../cli/manifest.ts'

/** Every command of the program, each in a file that is loaded only when it runs. */
export const COMMANDS: CommandTable = {
  init: () => import('./init/index.ts'),
  'init:phase': () => import('./init/phase.ts'),
  serve: () => import('./serve.ts'),
  version: () => import('./version.ts'),
}
