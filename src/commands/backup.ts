import {backupFile, ENCRYPT, passphraseFile, readPassphrase} from '../cli/backup-flags.ts'
import {TrustCommand} from '../cli/command.ts'
import {dir, output} from '../cli/flags.ts'
import {dirOf} from '../cli/folders.ts'

export default class Backup extends TrustCommand {
  static override summary = 'back up a control plane to a file'
  static override description = `Writes the store, the CAs and keys, the settings, the kubeconfigs and the issuance log with its key to one file, with a checksum, for its owner only. Works while the server runs, which goes on accepting writes: the file holds the store as of one moment. Other logs are left out.

The file contains every key and Secret of the cluster. Encrypt it with --passphrase-file, or keep it as safe as the folder itself. An existing backup of the same name is replaced as a whole; any other file is not.`
  static override examples = [
    '<%= config.bin %> <%= command.id %> plane.backup',
    '<%= config.bin %> <%= command.id %> /mnt/backups/plane.backup --passphrase-file /root/passphrase',
  ]
  static override args = {file: backupFile('the file to write')}
  static override flags = {
    dir,
    'passphrase-file': passphraseFile(ENCRYPT),
    output,
  }

  async run(): Promise<void> {
    const {args, flags} = await this.parse(Backup)
    const {backUpPlane} = await import('../control-plane/backup/backup.ts')
    const {backupView} = await import('../cli/views/backup.ts')
    const {createProgress} = await import('../cli/progress.ts')
    const {tell} = createProgress(flags)
    const passphrase = await readPassphrase(flags['passphrase-file'])
    const options = {clock: this.clock, passphrase, tell}
    const report = await backUpPlane(dirOf(flags.dir), args.file, options)
    await this.print(report, flags.output, backupView)
  }
}
