import {describeCommands, type Manifest} from '../../src/cli/manifest.ts'
import {runCli} from '../../src/cli/run.ts'
import {COMMANDS} from '../../src/commands/index.ts'
import {captured} from './capture.ts'

let manifest: Promise<Manifest> | undefined

export const describedCommands = (): Promise<Manifest> => (manifest ??= describeCommands(COMMANDS))

/** Runs a command line in this process. */
export async function run(
  ...argv: string[]
): Promise<{stdout: string; stderr: string; exit: number}> {
  const known = await describedCommands()
  const {result, ...texts} = await captured(() =>
    runCli(argv, {
      root: import.meta.dirname,
      commands: COMMANDS,
      manifest: () => structuredClone(known),
    }),
  )
  process.exitCode = 0
  return {...texts, exit: result}
}
