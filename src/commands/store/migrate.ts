import * as Flags from '@oclif/core/flags'
import {TrustCommand} from '../../cli/command.ts'
import {dir, output} from '../../cli/flags.ts'
import {dirOf} from '../../cli/folders.ts'
import {etcdFlags, serverChoices} from '../../cli/server-flags.ts'

const KINDS = ['embedded', 'etcd'] as const

export default class StoreMigrate extends TrustCommand {
  static override summary = 'move the objects of a control plane to etcd, or back from it'
  static override description = `Copies every key, compares all keys and values, then changes config.yaml. First stop all servers of the control plane; afterwards start one with "start". If it is interrupted, run the same command again: it continues. No server starts on a store that is only partly copied.

Revisions never go back: the next one is higher than any that clients have seen, and their watches begin again with a list.

The old store is kept: the embedded one in the folder "backups" of --dir, the keys in etcd as they are. Keys in etcd that are not of this migration are never overwritten.`
  static override examples = [
    '<%= config.bin %> <%= command.id %> --from embedded --to etcd --etcd-servers https://10.0.0.1:2379',
    '<%= config.bin %> <%= command.id %> --from etcd --to embedded',
  ]
  static override flags = {
    dir,
    from: Flags.option({
      options: KINDS,
      required: true,
      summary: 'where the objects are: in the folder of the control plane, or in etcd',
    })(),
    to: Flags.option({options: KINDS, required: true, summary: 'where they are to be'})(),
    ...etcdFlags,
    'etcd-servers': Flags.string({
      helpValue: '<urls>',
      summary:
        'addresses of the members of the etcd cluster, separated by commas [default: as in config.yaml]',
    }),
    output,
  }

  async run(): Promise<void> {
    const {flags} = await this.parse(StoreMigrate)
    const {migrateStore} = await import('../../control-plane/migration/migrate.ts')
    const {startCommand} = await import('../../control-plane/plane-command.ts')
    const {migrationView} = await import('../../cli/views/migration.ts')
    const {createProgress} = await import('../../cli/progress.ts')
    const folder = dirOf(flags.dir)
    const report = await migrateStore(folder, {
      from: flags.from,
      to: flags.to,
      choices: serverChoices(flags),
      clock: this.clock,
      tell: createProgress(flags).tell,
    })
    const start = await startCommand({dir: folder})
    await this.print(report, flags.output, migrationView(start))
  }
}
