import {backupFile, DECRYPT, passphraseFile, readPassphrase} from '../../../cli/backup/flags.ts'
import {TrustCommand} from '../../../cli/command.ts'
import {output} from '../../../cli/flags.ts'

export default class StoreSnapshotStatus extends TrustCommand {
  static override summary = 'check a snapshot or a backup, and show what is in it'
  static override description =
    'Reads the whole file, checks its checksum and every record in it, and changes nothing.'
  static override examples = ['<%= config.bin %> <%= command.id %> store.snapshot']
  static override args = {file: backupFile('the snapshot, or a backup')}
  static override flags = {'passphrase-file': passphraseFile(DECRYPT), output}

  async run(): Promise<void> {
    const {args, flags} = await this.parse(StoreSnapshotStatus)
    const {snapshotStatus} = await import('../../../control-plane/backup/snapshot-status.ts')
    const {snapshotStatusView} = await import('../../../cli/views/backup.ts')
    const passphrase = await readPassphrase(flags['passphrase-file'])
    const status = await snapshotStatus(args.file, passphrase)
    await this.print(status, flags.output, snapshotStatusView)
  }
}
