import {backupFile} from '../cli/backup/flags.ts'
import {SaveCommand} from '../cli/backup/save-command.ts'

export default class Backup extends SaveCommand {
  static override summary = 'back up a control plane to a file'
  static override description = `Writes the store, the CAs and keys, the settings, the kubeconfigs and the issuance log with its key to one file, with a checksum, for its owner only. The server may run, and accept writes meanwhile: the file holds the store as of one moment. Other logs are left out.

The file contains every key and Secret of the cluster. Encrypt it with --passphrase-file, or keep it as safe as the folder itself. An existing backup of the same name is replaced as a whole; any other file is not.`
  static override examples = [
    '<%= config.bin %> <%= command.id %> plane.backup',
    '<%= config.bin %> <%= command.id %> /mnt/backups/plane.backup --passphrase-file /root/passphrase',
  ]
  static override args = {file: backupFile('the file to write')}

  async run(): Promise<void> {
    const {args, flags} = await this.parse(Backup)
    const {backUpPlane} = await import('../control-plane/backup/backup.ts')
    await this.save(flags, (dir, options) => backUpPlane(dir, args.file, options))
  }
}
