import {
  backupFile,
  bumpRevision,
  DECRYPT,
  forceRestore,
  passphraseFile,
  readPassphrase,
} from '../../../cli/backup-flags.ts'
import {TrustCommand} from '../../../cli/command.ts'
import {dir, output} from '../../../cli/flags.ts'
import {dirOf} from '../../../cli/folders.ts'

export default class StoreSnapshotRestore extends TrustCommand {
  static override summary = 'restore the store of a control plane from a file'
  static override description = `Checks the whole file, then replaces the store. CAs, keys and settings stay as they are. Takes a snapshot, or the store of a backup. The server must not run; start it afterwards with "start".

The next revision is higher than any that clients have seen, and their watches begin again with a list.

For a store in an etcd cluster, use "etcdutl snapshot restore --bump-revision 1000000000 --mark-compacted".`
  static override examples = ['<%= config.bin %> <%= command.id %> store.snapshot --force']
  static override args = {file: backupFile('the snapshot, or a backup')}
  static override flags = {
    dir,
    'passphrase-file': passphraseFile(DECRYPT),
    force: forceRestore,
    'bump-revision': bumpRevision,
    output,
  }

  async run(): Promise<void> {
    const {args, flags} = await this.parse(StoreSnapshotRestore)
    const {restoreStore} = await import('../../../control-plane/backup/restore-snapshot.ts')
    const {startCommand} = await import('../../../control-plane/start-command.ts')
    const {restoreView} = await import('../../../cli/views/backup.ts')
    const {createProgress} = await import('../../../cli/progress.ts')
    const {tell} = createProgress(flags)
    const folder = dirOf(flags.dir)
    const report = await restoreStore(args.file, folder, {
      clock: this.clock,
      passphrase: await readPassphrase(flags['passphrase-file']),
      force: flags.force,
      bumpRevision: flags['bump-revision'],
      tell,
    })
    const start = await startCommand({dir: folder})
    await this.print(report, flags.output, restoreView(start))
  }
}
