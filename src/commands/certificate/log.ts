import * as Args from '@oclif/core/args'
import * as Flags from '@oclif/core/flags'
import {TrustCommand} from '../../cli/command.ts'
import {dir, isForPeople, wideOutput} from '../../cli/flags.ts'
import {TrustError} from '../../errors.ts'

export default class CertificateLog extends TrustCommand {
  static override summary = 'show what the signers have issued and refused'
  static override description = `Reads the issuance log of the control plane on this machine, or the logs that are named. Each line holds the hash of the one before and is authenticated with a key that the signer keeps: --verify checks all lines, and reports any that was changed, removed, added, or written without the key.

Each server of a control plane has a log and a key of its own. When a server begins to sign, its next line names the newest lines of the other logs. With the files of all servers, --verify checks that these lines are there: it finds a log that was cut off, rewritten or forked.

A running signer notices when lines are cut off the end or rewritten, and signs nothing until the log is moved away or restored. Nodes keep the newest line with their certificate and hand it in when they renew it: the server reports a line that is gone in its log, its metrics and "status". To check by hand, keep the head, which --verify prints, on another machine, and pass it with --head the next time.`
  static override examples = [
    '<%= config.bin %> <%= command.id %>',
    '<%= config.bin %> <%= command.id %> --verify',
    '<%= config.bin %> <%= command.id %> --verify plane-0.log plane-1.log plane-2.log',
    '<%= config.bin %> <%= command.id %> --file issuance.log --head 5f2c9a…',
  ]
  static override args = {
    files: Args.string({
      multiple: true,
      ignoreStdin: true,
      description: 'logs to read [default: logs/issuance.log of the control plane]',
    }),
  }
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
        'the key of the log [default: issuance.key of the control plane; for a named log, that file with ".key" added]',
    }),
    verify: Flags.boolean({summary: 'check the hashes and the key instead of showing the lines'}),
    head: Flags.string({
      helpValue: '<hash>',
      summary:
        'check the chain too, and that this line is still in it: its hash, or a head as --heads prints it or a node has kept it',
    }),
    heads: Flags.boolean({
      exclusive: ['head', 'verify'],
      summary: 'print the newest line of each log, its place and its hash, and check nothing',
    }),
    output: wideOutput,
  }

  async run(): Promise<void> {
    const {argv, flags} = await this.parse(CertificateLog)
    const {listIssuances, newestHeads, verifyIssuances} =
      await import('../../control-plane/issuances.ts')
    const {findLogs, hashOfHead} = await import('../../cli/issuance-logs.ts')
    const {createProgress} = await import('../../cli/progress.ts')
    const {headsView, issuancesView, verifiedView} = await import('../../cli/views/issuances.ts')
    const expectedHead = flags.head === undefined ? undefined : hashOfHead(flags.head)
    const logs = await findLogs({...flags, files: argv as string[]})
    const {tell, warn} = createProgress(flags)
    const files = logs.map(({file}) => file)
    if (flags.heads) {
      return await this.print({heads: await newestHeads(files)}, flags.output, headsView)
    }
    if (flags.verify || expectedHead !== undefined) {
      const verified = await verifyIssuances(logs, {expectedHead, warn})
      const [only, ...more] = verified.logs
      const result = only && more.length === 0 ? {...only, others: verified.others} : verified
      return await this.print(result, flags.output, verifiedView)
    }
    const [file = '', ...more] = files
    if (more.length > 0) throw severalLogs()
    let isDamaged = false
    const report = await listIssuances(file, (line) => {
      isDamaged = true
      warn(line)
    })
    await this.print(report, flags.output, issuancesView(flags.output === 'wide'))
    if (report.entries.length === 0 && !isDamaged && isForPeople(flags.output)) {
      tell('nothing was issued or refused yet')
    }
  }
}

const severalLogs = (): TrustError =>
  new TrustError('USAGE', 'the lines of several logs cannot be shown together', {
    hints: ['name one log, or check all of them with --verify'],
  })
