import type {BackupOptions, BackupReport} from '../../control-plane/backup/backup.ts'
import {ENCRYPT, passphraseFile, readPassphrase} from './flags.ts'
import {TrustCommand} from '../command.ts'
import {dir, output} from '../flags.ts'
import {dirOf} from '../folders.ts'
import type {ProgressOptions} from '../progress.ts'

interface SaveFlags extends ProgressOptions {
  dir?: string | undefined
  'passphrase-file'?: string | undefined
  output: string
}

/** What `backup` and `store snapshot save` share. */
export abstract class SaveCommand extends TrustCommand {
  static override flags = {dir, 'passphrase-file': passphraseFile(ENCRYPT), output}

  protected async save(
    flags: SaveFlags,
    work: (dir: string, options: BackupOptions) => Promise<BackupReport>,
  ): Promise<void> {
    const {backupView} = await import('../views/backup.ts')
    const {createProgress} = await import('../progress.ts')
    const {tell} = createProgress(flags)
    const passphrase = await readPassphrase(flags['passphrase-file'])
    const report = await work(dirOf(flags.dir), {clock: this.clock, passphrase, tell})
    await this.print(report, flags.output, backupView)
  }
}
