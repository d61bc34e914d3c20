import * as Flags from '@oclif/core/flags'
import {TrustCommand} from '../../cli/command.ts'
import {dir} from '../../cli/flags.ts'
import {dirOf} from '../../cli/folders.ts'
import {kubeadmFolderFlags, kubeadmFolders} from '../../cli/kubeadm-flags.ts'

export default class KubeconfigUser extends TrustCommand {
  static override summary = 'print a kubeconfig for a user'
  static override description =
    "Signs a client certificate for a user and groups with the cluster's CA and prints a kubeconfig with it on the standard output. RBAC decides what the user may do. A line of the issuance log names the certificate, so that it can be revoked (see certificate revoke). The kubeconfig contains a private key: keep it secret. With --cert-dir or --kubeconfig-dir, the CA is that of a control plane that kubeadm made; that has no such log."
  static override examples = [
    '<%= config.bin %> <%= command.id %> --client-name ada > ada.conf',
    '<%= config.bin %> <%= command.id %> --client-name ada --org developers --org on-call --validity-period 24h',
  ]
  static override flags = {
    'client-name': Flags.string({
      required: true,
      helpValue: '<name>',
      summary: "the user's name: the common name of the certificate",
    }),
    org: Flags.string({
      multiple: true,
      multipleNonGreedy: true,
      delimiter: ',',
      helpValue: '<groups>',
      summary:
        "the user's groups, separated by commas; may be repeated: the organizations of the certificate",
    }),
    'validity-period': Flags.string({
      helpValue: '<duration>',
      summary:
        'how long the certificate is valid, as in "24h" [default: like the control plane\'s certificates]',
    }),
    'token-file': Flags.string({
      helpValue: '<file>',
      exclusive: ['org', 'validity-period'],
      summary:
        'write the bearer token in this file to the kubeconfig instead of a certificate; - reads stdin',
    }),
    dir,
    ...kubeadmFolderFlags,
  }

  async run(): Promise<void> {
    const {flags} = await this.parse(KubeconfigUser)
    const {loadPlane} = await import('../../control-plane/config/stored.ts')
    const {duration} = await import('../../control-plane/config/fields.ts')
    const {userKubeconfig, warningsFor} = await import('../../control-plane/user-kubeconfig.ts')
    const {readFlag} = await import('../../cli/flag-value.ts')
    const {createProgress} = await import('../../cli/progress.ts')
    const {readSecretFile} = await import('../../cli/secret-file.ts')
    const period = flags['validity-period']
    const tokenFile = flags['token-file']
    const folders = kubeadmFolders(flags)
    const user = {
      isKubeadm: folders !== undefined,
      name: flags['client-name'],
      groups: flags.org ?? [],
      lifetime: period === undefined ? undefined : readFlag('validity-period', period, duration),
      token: tokenFile === undefined ? undefined : await readSecretFile(tokenFile),
    }
    const {planeOfKubeadm} = await import('../../control-plane/kubeadm-folders/kubeadm-plane.ts')
    const plane = folders ? await planeOfKubeadm(folders) : await loadPlane(dirOf(flags.dir))
    const kubeconfig = await userKubeconfig(plane, user, this.clock)
    for (const warning of warningsFor(user)) createProgress(flags).warn(warning)
    process.stdout.write(kubeconfig)
  }
}
