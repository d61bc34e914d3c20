import * as Flags from '@oclif/core/flags'
import {serverChoices, serverFlags} from '../cli/server-flags.ts'
import {TrustCommand} from '../cli/command.ts'
import {deny, readServingFlags, servedControllers, servingFlags} from '../cli/controller-flags.ts'
import {dir} from '../cli/flags.ts'
import {dirOf} from '../cli/folders.ts'
import type {RawFlag} from '../cli/own-program.ts'
import {signingFlags} from '../cli/signing-flags.ts'

export default class Serve extends TrustCommand {
  static override summary = 'run the API server of a control plane in the foreground'
  static override description = `Runs what "init" has set up until it is stopped; for systemd and containers. "init" starts the same server in the background.

SIGTERM and SIGINT let requests in flight finish and end the server. SIGHUP rereads the certificates, and the signers in config.yaml, without downtime.
Prints one line, "ready" and the address, on the standard output once it serves requests; the log goes to the standard error.`
  static override examples = [
    '<%= config.bin %> <%= command.id %> --dir /var/lib/trustadm',
    {
      description: 'A systemd unit for it:',
      command:
        '<%= config.bin %> <%= command.id %> --print-unit > /etc/systemd/system/trustadm.service',
    },
    {
      description: 'Let a process on another machine sign certificates:',
      command: "<%= config.bin %> <%= command.id %> --controllers '*,-csr-signer'",
    },
  ]
  static override flags = {
    dir,
    ...serverFlags,
    controllers: servedControllers,
    deny,
    ...servingFlags,
    ...signingFlags,
    'print-unit': Flags.boolean({
      summary: 'print a systemd unit that runs this command, with the other flags given, and end',
    }),
  }

  async run(): Promise<void> {
    const {flags, raw} = await this.parse(Serve)
    if (flags['print-unit']) return await this.printUnit(flags.dir, raw)
    const {loadPlane} = await import('../control-plane/config/stored.ts')
    const {rotationDuties} = await import('../control-plane/ca-rotation/duties.ts')
    const {serve} = await import('../control-plane/serve.ts')
    const {openServerLog} = await import('../cli/server-log.ts')
    const {keepOwnLogShort} = await import('../control-plane/own-log.ts')
    const {selectControllers} = await import('../controllers/selection.ts')
    const {EMBEDDED_CONTROLLERS} = await import('../controllers/catalog.ts')
    const {readSigningFlags} = await import('../cli/signing-flags.ts')
    const chosen = selectControllers(EMBEDDED_CONTROLLERS, flags.controllers, {mayBeNone: true})
    const signing = await readSigningFlags(flags)
    const stored = await loadPlane(dirOf(flags.dir))
    const plane = {...stored, settings: {...stored.settings, ...serverChoices(flags)}}
    const log = openServerLog({
      clock: this.clock,
      quiet: flags.quiet,
      afterLine: keepOwnLogShort(plane),
    })
    const {endpoint, ended} = await serve(plane, {
      clock: this.clock,
      log,
      signing,
      serving: {deny: flags.deny, ...(await readServingFlags(flags))},
      controllers: chosen,
      ...rotationDuties(plane, {clock: this.clock, log}),
    })
    process.stdout.write(`ready ${endpoint}\n`)
    await ended
  }

  private async printUnit(named: string | undefined, raw: readonly RawFlag[]): Promise<void> {
    const {loadPlane} = await import('../control-plane/config/stored.ts')
    const {serverUnit} = await import('../control-plane/server-unit.ts')
    const {givenAgain, ownProgram} = await import('../cli/own-program.ts')
    const plane = await loadPlane(dirOf(named))
    const more = givenAgain(raw, Serve.flags, ['dir', 'print-unit'])
    process.stdout.write(serverUnit(plane, ownProgram(), '/', {flags: more}).content)
  }
}
