import * as Args from '@oclif/core/args'
import * as Flags from '@oclif/core/flags'
import {TrustCommand} from '../../cli/command.ts'
import {dir, output} from '../../cli/flags.ts'
import {dirOf} from '../../cli/folders.ts'
import {SIGNS} from '../../control-plane/config/added-authorities.ts'
import {KEY_ALGORITHMS} from '../../pki/keys.ts'

export default class CaAdd extends TrustCommand {
  static override summary = 'add a CA of your own, which rotates with the others'
  static override description = `For a CA that something else in your cluster uses, such as a VPN or a metrics server. Creates it, or copies yours, to "pki" in the folder of the control plane, and records it under "authorities" in config.yaml. The cluster itself trusts it for nothing.

"ca rotate" replaces it in the same two steps as the other CAs. --on-change is run each time its files have changed: it should make all that use the CA read them again, and fail if that fails. Variables: TRUSTADM_CA, TRUSTADM_CA_CERTIFICATE and TRUSTADM_CA_KEY (its files), TRUSTADM_ROTATION_STEP.`
  static override examples = [
    '<%= config.bin %> <%= command.id %> vpn-ca --description "clients of the VPN"',
    '<%= config.bin %> <%= command.id %> metrics-ca --signs servers --certificate ca.crt --key ca.key',
    '<%= config.bin %> <%= command.id %> vpn-ca --on-change "systemctl reload openvpn"',
  ]
  static override args = {
    name: Args.string({
      required: true,
      ignoreStdin: true,
      description: 'its name, which ends with "-ca"',
    }),
  }
  static override flags = {
    dir,
    certificate: Flags.string({
      helpValue: '<file>',
      summary: 'copy this CA instead of creating one',
    }),
    key: Flags.string({
      helpValue: '<file>',
      dependsOn: ['certificate'],
      summary: 'its key; without it, the key is on another machine',
    }),
    signs: Flags.option({
      options: SIGNS,
      default: 'clients' as const,
      summary:
        'what its certificates are for: a new CA signs clients from "ca rotate start" on, servers from "complete" on',
    })(),
    description: Flags.string({helpValue: '<text>', summary: 'what it is for, in your words'}),
    'on-change': Flags.string({
      helpValue: '<command>',
      summary: 'run by the shell each time a rotation has changed its files',
    }),
    'key-algorithm': Flags.option({
      options: KEY_ALGORITHMS,
      exclusive: ['certificate'],
      summary: 'the key of the new CA [default: as the control plane is set up]',
    })(),
    output,
  }

  async run(): Promise<void> {
    const {args, flags} = await this.parse(CaAdd)
    const {readBroughtFiles} = await import('../../cli/rotation/brought.ts')
    const {addAuthority} = await import('../../control-plane/ca-rotation/add-authority.ts')
    const {showAuthority} = await import('../../control-plane/ca-rotation/authorities.ts')
    const {authorityName} = await import('../../control-plane/config/added-authorities.ts')
    const {loadPlane} = await import('../../control-plane/config/stored.ts')
    const {createProgress} = await import('../../cli/progress.ts')
    const {authorityView} = await import('../../cli/views/authorities.ts')
    const name = authorityName(args.name, 'the name of the CA')
    const {description, certificate, key, 'on-change': onChange} = flags
    const folder = dirOf(flags.dir)
    await addAuthority(
      folder,
      {name, signs: flags.signs, ...(description && {description}), ...(onChange && {onChange})},
      {
        clock: this.clock,
        tell: createProgress(flags).tell,
        brought: certificate === undefined ? undefined : await readBroughtFiles(certificate, key),
        algorithm: flags['key-algorithm'],
      },
    )
    const added = await showAuthority(await loadPlane(folder), name, this.clock)
    await this.print(added, flags.output, authorityView)
  }
}
