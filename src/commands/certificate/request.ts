import * as Args from '@oclif/core/args'
import * as Flags from '@oclif/core/flags'
import {clusterFlags} from '../../cli/cluster.ts'
import {TrustCommand} from '../../cli/command.ts'
import {wideOutput} from '../../cli/flags.ts'
import {KEY_ALGORITHMS, type KeyAlgorithm} from '../../pki/keys.ts'

const several = {multiple: true, multipleNonGreedy: true, delimiter: ','} as const

export default class CertificateRequest extends TrustCommand {
  static override summary = 'request a certificate for a new key'
  static override description = `Creates a key, requests a certificate for it, waits until the request is approved and signed, and writes both: as <name>.key and <name>.crt in a folder, or as a kubeconfig. The key never leaves this machine.
After an interruption, run it again: it resumes with the same key, kept in <name>.pending.key, and the same request. Existing files are not overwritten without --force.

Kubernetes has a signer for users (kubernetes.io/kube-apiserver-client), but none for services: use --signer to name the one of this cluster. To add a signer to the control plane, see "signers" in its config.yaml.`
  static override examples = [
    '<%= config.bin %> <%= command.id %> --user ada --group developers --kubeconfig-out ada.conf',
    '<%= config.bin %> <%= command.id %> web --service web.default.svc,10.96.0.7 --signer example.com/services --out tls',
    '<%= config.bin %> <%= command.id %> --user ada --key ada.key --duration 24h',
  ]
  static override args = {
    name: Args.string({
      ignoreStdin: true,
      description:
        'the name of the request and of the files [default: derived from the user or host]',
    }),
  }
  static override flags = {
    ...clusterFlags,
    user: Flags.string({
      helpValue: '<name>',
      exclusive: ['service'],
      summary: 'a certificate for this user of the cluster: its common name',
    }),
    group: Flags.string({
      ...several,
      helpValue: '<groups>',
      dependsOn: ['user'],
      summary: "the user's groups: its organizations",
    }),
    service: Flags.string({
      ...several,
      helpValue: '<hosts>',
      summary: 'a certificate for a service with these DNS names and IP addresses',
    }),
    signer: Flags.string({
      helpValue: '<name>',
      summary: 'the signer [default: kubernetes.io/kube-apiserver-client for users]',
    }),
    usages: Flags.string({
      ...several,
      helpValue: '<usages>',
      summary:
        'what the certificate is for [default: digital signature, and client auth for users or server auth for services]',
    }),
    duration: Flags.string({
      helpValue: '<duration>',
      summary: 'how long it should be valid, as in "24h" [default: the signer\'s default]',
    }),
    'key-algorithm': Flags.option({
      options: KEY_ALGORITHMS as KeyAlgorithm[],
      exclusive: ['key'],
      summary: 'the kind of the new key [default: ECDSA-P256]',
    })(),
    key: Flags.string({
      helpValue: '<file>',
      summary: 'use the key in this file instead of a new one; the file is not moved',
    }),
    out: Flags.string({
      helpValue: '<folder>',
      exclusive: ['kubeconfig-out'],
      summary: 'folder to write the files to [default: the current folder]',
    }),
    'kubeconfig-out': Flags.string({
      helpValue: '<file>',
      summary: 'write a kubeconfig for the user instead of a pair of files',
    }),
    force: Flags.boolean({summary: 'replace existing files, once the new ones are there'}),
    wait: Flags.boolean({
      allowNo: true,
      default: true,
      summary: 'wait for the certificate; --no-wait only sends the request',
    }),
    timeout: Flags.string({
      helpValue: '<duration>',
      default: '10m',
      summary: 'how long to wait; 0 for no limit',
    }),
    output: wideOutput,
  }

  async run(): Promise<void> {
    const {args, flags} = await this.parse(CertificateRequest)
    const {requestCertificate} = await import('../../cli/requests/obtain.ts')
    const {obtainedView} = await import('../../cli/views/requests-done.ts')
    const obtained = await requestCertificate({...flags, name: args.name}, this.clock)
    // The user of the certificate does not approve it.
    await this.print(obtained, flags.output, obtainedView({...flags, user: undefined}))
  }
}
