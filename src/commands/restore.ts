import {
  backupFile,
  bumpRevision,
  DECRYPT,
  forceRestore,
  passphraseFile,
  readPassphrase,
} from '../cli/backup-flags.ts'
import {TrustCommand} from '../cli/command.ts'
import {dir, output} from '../cli/flags.ts'
import {dirOf} from '../cli/folders.ts'

export default class Restore extends TrustCommand {
  static override summary = 'restore a control plane from a backup'
  static override description = `Checks the whole backup, then writes it to an empty folder. With --force it replaces the control plane that is there, which is kept in the folder "backups". The server must not run; start it afterwards with "start".

What clients know of the old server stays consistent: the next revision is higher than any they have seen, and their watches begin again with a list. The issuance log gets a line that says when it was restored; if the log that is there is a longer one of the same control plane, it is kept. After an interruption, run the command again.`
  static override examples = [
    '<%= config.bin %> <%= command.id %> plane.backup',
    '<%= config.bin %> <%= command.id %> plane.backup --dir /srv/plane --passphrase-file /root/passphrase',
  ]
  static override args = {file: backupFile('the backup')}
  static override flags = {
    dir,
    'passphrase-file': passphraseFile(DECRYPT),
    force: forceRestore,
    'bump-revision': bumpRevision,
    output,
  }

  async run(): Promise<void> {
    const {args, flags} = await this.parse(Restore)
    const {restorePlane} = await import('../control-plane/backup/restore.ts')
    const {startCommand} = await import('../control-plane/start-command.ts')
    const {restoreView} = await import('../cli/views/backup.ts')
    const {createProgress} = await import('../cli/progress.ts')
    const {tell} = createProgress(flags)
    const folder = dirOf(flags.dir)
    const report = await restorePlane(args.file, folder, {
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
