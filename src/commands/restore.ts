import {backupFile} from '../cli/backup/flags.ts'
import {RestoreCommand} from '../cli/backup/restore-command.ts'

export default class Restore extends RestoreCommand {
  static override summary = 'restore a control plane from a backup'
  static override description = `Checks the whole backup, then writes it to an empty folder. With --force it replaces the control plane that is there, which is kept in the folder "backups". The server must not run; start it afterwards with "start".

What clients know of the old server stays consistent: the next revision is higher than any they have seen, and their watches begin again with a list. The issuance log gets a line that says when it was restored; if the log that is there is a longer one of the same control plane, it is kept. After an interruption, run the command again.`
  static override examples = [
    '<%= config.bin %> <%= command.id %> plane.backup',
    '<%= config.bin %> <%= command.id %> plane.backup --dir /srv/plane --passphrase-file /root/passphrase',
  ]
  static override args = {file: backupFile('the backup')}

  async run(): Promise<void> {
    const {args, flags} = await this.parse(Restore)
    const {restorePlane} = await import('../control-plane/backup/restore.ts')
    await this.restore(flags, (dir, options) => restorePlane(args.file, dir, options))
  }
}
