import * as Args from '@oclif/core/args'
import * as Flags from '@oclif/core/flags'
import {TrustCommand} from '../cli/command.ts'
import {dir, output} from '../cli/flags.ts'
import {dirOf} from '../cli/folders.ts'
import {passphraseFile, readPassphrase} from '../cli/passphrase.ts'
import {etcdFlags, serverChoices} from '../cli/server-flags.ts'

export default class Restore extends TrustCommand {
  static override summary = 'restore a control plane from a backup, also to another kind of store'
  static override description = `Checks the whole backup, then writes it to an empty folder. With --force it replaces the control plane that is there, which is kept in the folder "backups". A backup of objects only replaces those of an existing control plane; --force is needed if it has others than the backup. First stop all servers of the control plane; afterwards start one with "start".

With --to the objects go to etcd, or from etcd to the folder: to move a control plane, stop its servers, back up, and restore. All keys and values are compared. Keys in etcd that are not of this restore are never overwritten, and the old ones stay; no server starts on a store that is only partly copied, or that has moved.

What clients know of the old server stays consistent: the next revision is higher than any they have seen, and their watches begin again with a list. The issuance log gets a line that says when it was restored; if the log that is there is a longer one of the same control plane, it is kept. After an interruption, run the command again.`
  static override examples = [
    '<%= config.bin %> <%= command.id %> plane.backup',
    '<%= config.bin %> <%= command.id %> plane.backup --dry-run',
    '<%= config.bin %> <%= command.id %> objects.backup --to etcd --etcd-servers https://10.0.0.1:2379',
    '<%= config.bin %> <%= command.id %> objects.backup --to embedded',
  ]
  static override args = {file: Args.string({required: true, description: 'the backup'})}
  static override flags = {
    dir,
    'dry-run': Flags.boolean({
      summary: 'check the whole backup, show what is in it, and change nothing',
    }),
    'passphrase-file': passphraseFile('the passphrase of an encrypted backup is in this file'),
    force: Flags.boolean({
      summary: 'replace what is there; it is moved to the folder "backups" of --dir',
    }),
    'objects-only': Flags.boolean({
      summary: 'only the objects: the files of the control plane stay',
      exclusive: ['files-only'],
    }),
    'files-only': Flags.boolean({
      summary: 'only the files: the objects in etcd stay',
      exclusive: ['to'],
    }),
    to: Flags.option({
      options: ['embedded', 'etcd'] as const,
      summary: 'where the objects are to be: in --dir, or in etcd [default: as in config.yaml]',
    })(),
    ...etcdFlags,
    'etcd-servers': Flags.string({
      helpValue: '<urls>',
      summary:
        'addresses of the members of the etcd cluster, separated by commas [default: as in config.yaml]',
    }),
    'bump-revision': Flags.integer({
      helpValue: '<number>',
      min: 1,
      max: 1_000_000_000_000,
      default: 1_000_000_000,
      summary:
        'how far the next revision is above that of the backup, so that no client sees one twice',
    }),
    output,
  }

  async run(): Promise<void> {
    const {args, flags} = await this.parse(Restore)
    const {archiveView, restoreView} = await import('../cli/views/backup.ts')
    const passphrase = await readPassphrase(flags['passphrase-file'])
    if (flags['dry-run']) {
      const {describeBackup} = await import('../control-plane/backup/backup.ts')
      const report = await describeBackup(args.file, passphrase)
      return await this.print(report, flags.output, archiveView)
    }
    const {restore} = await import('../control-plane/backup/restore.ts')
    const {startCommand} = await import('../control-plane/plane-command.ts')
    const {createProgress} = await import('../cli/progress.ts')
    const folder = dirOf(flags.dir)
    const report = await restore(args.file, folder, {
      clock: this.clock,
      passphrase,
      force: flags.force,
      only: flags['objects-only'] ? 'objects' : flags['files-only'] ? 'files' : undefined,
      to: flags.to,
      choices: serverChoices(flags),
      bumpRevision: flags['bump-revision'],
      tell: createProgress(flags).tell,
    })
    await this.print(report, flags.output, restoreView(await startCommand({dir: folder})))
  }
}
