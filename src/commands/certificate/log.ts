import * as Flags from '@oclif/core/flags'
import {TrustCommand} from '../../cli/command.ts'
import {dir, isForPeople, wideOutput} from '../../cli/flags.ts'
import {TrustError} from '../../errors.ts'

export default class CertificateLog extends TrustCommand {
  static override summary = 'show what the signers have issued and refused'
  static override description = `Reads the issuance log of the control plane on this machine, or that of "controllers" with --file. Each line holds the hash of the one before and is authenticated with a key that the signer keeps: --verify checks all lines, and reports any that was changed, removed, added, or written without the key.

A running signer notices when lines are cut off the end or rewritten, and signs nothing until the log is moved away or restored. If no signer runs, the file alone does not show that lines are missing. Keep the head, which --verify prints, on another machine, and pass it with --head the next time.`
  static override examples = [
    '<%= config.bin %> <%= command.id %>',
    '<%= config.bin %> <%= command.id %> --verify',
    '<%= config.bin %> <%= command.id %> --file issuance.log --head 5f2c9a…',
  ]
  static override flags = {
    dir,
    file: Flags.string({
      helpValue: '<file>',
      exclusive: ['dir'],
      summary: 'the log to read [default: logs/issuance.log of the control plane]',
    }),
    key: Flags.string({
      helpValue: '<file>',
      summary:
        'the key of the log [default: issuance.key of the control plane; with --file, that file with ".key" added]',
    }),
    verify: Flags.boolean({summary: 'check the hashes and the key instead of showing the lines'}),
    head: Flags.string({
      helpValue: '<hash>',
      summary: 'check the chain too, and that the line with this hash is still in it',
    }),
    output: wideOutput,
  }

  async run(): Promise<void> {
    const {flags} = await this.parse(CertificateLog)
    const {listIssuances, verifyIssuances} = await import('../../control-plane/issuances.ts')
    const {fileOf} = await import('../../control-plane/config/plane.ts')
    const {dirOf} = await import('../../cli/folders.ts')
    const {createProgress} = await import('../../cli/progress.ts')
    const {issuancesView} = await import('../../cli/views/issuances.ts')
    const {requireHash} = await import('../../cli/flag-value.ts')
    const file = flags.file ?? (await ownLog(dirOf(flags.dir)))
    const requiresKey = flags.file === undefined || flags.key !== undefined
    const keyFile =
      flags.key ??
      (flags.file === undefined ? fileOf({dir: dirOf(flags.dir)}, 'issuanceKey') : `${file}.key`)
    const {tell, warn} = createProgress(flags)
    const head = flags.head === undefined ? undefined : requireHash('head', flags.head)
    const report =
      flags.verify || head !== undefined
        ? await verifyIssuances(file, {expectedHead: head, keyFile, requiresKey, warn})
        : await listIssuances(file, warn)
    await this.print(report, flags.output, issuancesView(flags.output === 'wide'))
    if (report.entries?.length === 0 && isForPeople(flags.output)) {
      tell('nothing was issued or refused yet')
    }
  }
}

/** The log of the control plane in a folder; throws if there is none. */
async function ownLog(dir: string): Promise<string> {
  const {fileOf} = await import('../../control-plane/config/plane.ts')
  const {lookAt} = await import('../../fs/file-checks.ts')
  const log = fileOf({dir}, 'issuances')
  if (await lookAt(log)) return log
  const {loadPlane} = await import('../../control-plane/config/stored.ts')
  await loadPlane(dir)
  throw new TrustError('NOT_FOUND', `the control plane in ${dir} has no issuance log yet`, {
    hints: ['start its server with "trustadm start"'],
  })
}
