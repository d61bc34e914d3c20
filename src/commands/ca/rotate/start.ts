import * as Flags from '@oclif/core/flags'
import {TrustCommand} from '../../../cli/command.ts'
import {dir, dryRun, output, yes} from '../../../cli/flags.ts'
import {kubeconfig, wait} from '../../../cli/rotation/session.ts'
import {KEY_ALGORITHMS} from '../../../pki/keys.ts'

export default class CaRotateStart extends TrustCommand {
  static override summary =
    'create new CAs, trust them beside the old ones, and sign clients with them'
  static override description = `The first of two steps that replace every CA of a control plane while it works. Creates the new CAs, trusts old and new everywhere, signs clients with the new ones, and renews the certificates and kubeconfigs of the control plane. Nodes with "trustadm node run" follow automatically within 10 minutes. Nobody is locked out: what the old CAs signed stays valid until "ca rotate complete".

From the first rotation on, clients of the API server have a CA of their own ("client-ca"), and so have the clients of kubelets ("kubelet-ca"). Interrupt it at any time and run it again: it resumes. Only for trustadm's own control plane, on its machine.`
  static override examples = [
    '<%= config.bin %> <%= command.id %> --wait',
    '<%= config.bin %> <%= command.id %> --dry-run',
    '<%= config.bin %> <%= command.id %> --only front-proxy-ca --key-algorithm ECDSA-P384',
  ]
  static override flags = {
    dir,
    kubeconfig,
    only: Flags.string({
      helpValue: '<CA>',
      multiple: true,
      multipleNonGreedy: true,
      delimiter: ',',
      summary:
        'rotate only these CAs, with the names of "ca list"; "sa" are the keys of service accounts',
    }),
    'key-algorithm': Flags.option({
      options: KEY_ALGORITHMS,
      summary: 'the keys of the new CAs [default: as the control plane is set up]',
    })(),
    'new-ca': Flags.string({
      helpValue: '<CA>=<certificate file>,<key file>',
      multiple: true,
      multipleNonGreedy: true,
      summary:
        'use this CA instead of creating one; needed if the key of the old CA is not on this machine',
    }),
    wait,
    'dry-run': dryRun,
    yes,
    output,
  }

  async run(): Promise<void> {
    const {flags} = await this.parse(CaRotateStart)
    const {openRotation} = await import('../../../cli/rotation/session.ts')
    const {readBrought} = await import('../../../cli/rotation/brought.ts')
    const {runRotation} = await import('../../../cli/rotation/run.ts')
    const brought = await readBrought(flags['new-ca'] ?? [])
    const session = await openRotation(flags, this.clock)
    const {only = [], 'key-algorithm': keyAlgorithm} = flags
    const options = {only, keyAlgorithm, wait: flags.wait}
    const context = {...session.context, brought}
    const {shortenedBy} = await import('../../../control-plane/ca-rotation/brought.ts')
    for (const line of shortenedBy(context.plane, brought, this.clock.now())) context.warn(line)
    const question = 'Create new CAs and sign clients with them from now on?'
    const done = await runRotation({...session, context}, 'start', {options, flags, question})
    process.stdout.write(done.text)
    this.endWith(done.exitCode)
  }
}
