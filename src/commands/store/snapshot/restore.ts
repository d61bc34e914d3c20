import {backupFile} from '../../../cli/backup/flags.ts'
import {RestoreCommand} from '../../../cli/backup/restore-command.ts'

export default class StoreSnapshotRestore extends RestoreCommand {
  static override summary = 'restore the store of a control plane from a file'
  static override description = `Checks the whole file, then replaces the store. CAs, keys and settings stay as they are. Takes a snapshot, or the store of a backup. The server must not run; start it afterwards with "start".

The next revision is higher than any that clients have seen, and their watches begin again with a list.

For a store in an etcd cluster, use "etcdutl snapshot restore --bump-revision 1000000000 --mark-compacted".`
  static override examples = ['<%= config.bin %> <%= command.id %> store.snapshot --force']
  static override args = {file: backupFile('the snapshot, or a backup')}

  async run(): Promise<void> {
    const {args, flags} = await this.parse(StoreSnapshotRestore)
    const {restoreStore} = await import('../../../control-plane/backup/restore-snapshot.ts')
    await this.restore(flags, (dir, options) => restoreStore(args.file, dir, options))
  }
}
