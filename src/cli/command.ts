import {Command} from '@oclif/core/command'
import {systemClock, type Clock} from '../runtime.ts'
import {commonFlags} from './flags.ts'
import type {View} from './output.ts'

/** What every command shares. Results go to the standard output, everything else to the standard error. */
export abstract class TrustCommand extends Command {
  static override baseFlags = commonFlags

  protected clock: Clock = systemClock

  abstract override run(): Promise<void>

  /** For a command that succeeded but has to report a problem. */
  protected endWith(exitCode: number): void {
    process.exitCode = exitCode
  }

  protected async print<Result>(result: Result, format: string, view: View<Result>): Promise<void> {
    const {render} = await import('./output.ts')
    process.stdout.write(await render(result, format, view))
  }
}
