import {backupFile, ENCRYPT, passphraseFile, readPassphrase} from '../../../cli/backup-flags.ts'
import {TrustCommand} from '../../../cli/command.ts'
import {dir, output} from '../../../cli/flags.ts'
import {dirOf} from '../../../cli/folders.ts'

export default class StoreSnapshotSave extends TrustCommand {
  static override summary = 'save the store of a control plane to a file'
  static override description = `Saves every object as of one moment, with a checksum. Works while the server runs, which goes on accepting writes. CAs, keys and settings are not in it: "backup" includes them.

For a store in an etcd cluster, use "etcdctl snapshot save".`
  static override examples = ['<%= config.bin %> <%= command.id %> store.snapshot']
  static override args = {file: backupFile('the file to write')}
  static override flags = {
    dir,
    'passphrase-file': passphraseFile(ENCRYPT),
    output,
  }

  async run(): Promise<void> {
    const {args, flags} = await this.parse(StoreSnapshotSave)
    const {saveStore} = await import('../../../control-plane/backup/backup.ts')
    const {backupView} = await import('../../../cli/views/backup.ts')
    const {createProgress} = await import('../../../cli/progress.ts')
    const {tell} = createProgress(flags)
    const passphrase = await readPassphrase(flags['passphrase-file'])
    const options = {clock: this.clock, passphrase, tell}
    const report = await saveStore(dirOf(flags.dir), args.file, options)
    await this.print(report, flags.output, backupView)
  }
}
