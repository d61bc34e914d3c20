import type {RestoreOptions, RestoreReport} from '../../control-plane/backup/restore.ts'
import {bumpRevision, DECRYPT, forceRestore, passphraseFile, readPassphrase} from './flags.ts'
import {TrustCommand} from '../command.ts'
import {dir, output} from '../flags.ts'
import {dirOf} from '../folders.ts'
import type {ProgressOptions} from '../progress.ts'

interface RestoreFlags extends ProgressOptions {
  dir?: string | undefined
  'passphrase-file'?: string | undefined
  force: boolean
  'bump-revision': number
  output: string
}

/** What `restore` and `store snapshot restore` share. */
export abstract class RestoreCommand extends TrustCommand {
  static override flags = {
    dir,
    'passphrase-file': passphraseFile(DECRYPT),
    force: forceRestore,
    'bump-revision': bumpRevision,
    output,
  }

  protected async restore(
    flags: RestoreFlags,
    work: (dir: string, options: RestoreOptions) => Promise<RestoreReport>,
  ): Promise<void> {
    const {startCommand} = await import('../../control-plane/plane-command.ts')
    const {restoreView} = await import('../views/backup.ts')
    const {createProgress} = await import('../progress.ts')
    const {tell} = createProgress(flags)
    const folder = dirOf(flags.dir)
    const report = await work(folder, {
      clock: this.clock,
      passphrase: await readPassphrase(flags['passphrase-file']),
      force: flags.force,
      bumpRevision: flags['bump-revision'],
      tell,
    })
    await this.print(report, flags.output, restoreView(await startCommand({dir: folder})))
  }
}
