import * as Args from '@oclif/core/args'
import * as Flags from '@oclif/core/flags'
import {TrustCommand} from '../cli/command.ts'
import {dir, output} from '../cli/flags.ts'
import {dirOf} from '../cli/folders.ts'
import {passphraseFile, readPassphrase} from '../cli/passphrase.ts'

export default class Backup extends TrustCommand {
  static override summary = 'back up a control plane to a file'
  static override description = `Writes all objects, the CAs and keys, the settings, the kubeconfigs and the issuance log with its key to one file, with a checksum, for its owner only. The server may run, and accept writes meanwhile: the file holds the objects as of one moment, whether they are in --dir or in etcd. Other logs are left out.

The file contains every key and Secret of the cluster. Encrypt it with --passphrase-file, or keep it as safe as the folder itself. With --objects-only it contains no private key of the control plane, but still all Secrets and tokens. An existing backup of the same name is replaced as a whole; any other file is not.

"restore --dry-run" checks the file, and shows what is in it.`
  static override examples = [
    '<%= config.bin %> <%= command.id %> plane.backup',
    '<%= config.bin %> <%= command.id %> /mnt/backups/plane.backup --passphrase-file /root/passphrase',
    '<%= config.bin %> <%= command.id %> objects.backup --objects-only',
  ]
  static override args = {file: Args.string({required: true, description: 'the file to write'})}
  static override flags = {
    dir,
    'objects-only': Flags.boolean({
      summary: 'only the objects: no files, and no private key of the control plane',
    }),
    'passphrase-file': passphraseFile('encrypt with the passphrase in this file'),
    output,
  }

  async run(): Promise<void> {
    const {args, flags} = await this.parse(Backup)
    const {backUp} = await import('../control-plane/backup/backup.ts')
    const {backupView} = await import('../cli/views/backup.ts')
    const {createProgress} = await import('../cli/progress.ts')
    const report = await backUp(dirOf(flags.dir), args.file, {
      clock: this.clock,
      objectsOnly: flags['objects-only'],
      passphrase: await readPassphrase(flags['passphrase-file']),
      tell: createProgress(flags).tell,
    })
    await this.print(report, flags.output, backupView)
  }
}
