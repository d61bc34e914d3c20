import {backupFile} from '../../../cli/backup/flags.ts'
import {SaveCommand} from '../../../cli/backup/save-command.ts'

export default class StoreSnapshotSave extends SaveCommand {
  static override summary = 'save the store of a control plane to a file'
  static override description = `Saves every object as of one moment, with a checksum. The server may run, and accept writes meanwhile. CAs, keys and settings are not in it: "backup" includes them.

For a store in an etcd cluster, use "etcdctl snapshot save".`
  static override examples = ['<%= config.bin %> <%= command.id %> store.snapshot']
  static override args = {file: backupFile('the file to write')}

  async run(): Promise<void> {
    const {args, flags} = await this.parse(StoreSnapshotSave)
    const {saveStore} = await import('../../../control-plane/backup/backup.ts')
    await this.save(flags, (dir, options) => saveStore(dir, args.file, options))
  }
}
