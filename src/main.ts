import {readFileSync} from 'node:fs'
import {join} from 'node:path'
import {describeCommands, type Manifest} from './cli/manifest.ts'
import {runCli} from './cli/run.ts'
import {finishOutput, openOutput} from './cli/standard-output.ts'
import {COMMANDS} from './commands/index.ts'

/** The only way into the program, and out of it. Returns the exit code once everything that was printed is written. */
export async function run(argv: readonly string[], root: string): Promise<number> {
  openOutput()
  return await finishOutput(await main(argv, root), argv)
}

/** The program. `root` is the folder that the build left its files in. */
export async function main(argv: readonly string[], root: string): Promise<number> {
  const manifest = () => JSON.parse(readFileSync(join(root, 'manifest.json'), 'utf8')) as Manifest
  return await runCli(argv, {root, commands: COMMANDS, manifest})
}

/** For the build: what `main` reads. */
export const describeProgram = (): Promise<Manifest> => describeCommands(COMMANDS)
