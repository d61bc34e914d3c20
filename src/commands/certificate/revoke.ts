import * as Args from '@oclif/core/args'
import * as Flags from '@oclif/core/flags'
import {clusterFlags} from '../../cli/cluster.ts'
import {TrustCommand} from '../../cli/command.ts'
import {dryRun, wideOutput, yes} from '../../cli/flags.ts'

export default class CertificateRevoke extends TrustCommand {
  static override summary = 'revoke certificates: the server refuses them at once'
  static override description = `Puts the key of a certificate on a list that the server follows. From then on every certificate of that key is refused with 401, within a second, also on open connections, and neither approvers nor the signer give the key another one. The list is the ConfigMap kube-system/trustadm-revoked-certificates; an entry is removed a good day after the last certificate of the key has expired, and never if the issuance log, which names them, was out of reach.
Certificates are found in the cluster's requests and, on the machine of the control plane, in the issuance log. A stolen certificate may have renewed itself with another key: for a node, use --node, which revokes all of its certificates, also those that it gets meanwhile, and the keys of its requests that wait. Then delete the Node, or let its machine come back with "certificate allow-rejoin".

Asks first; without a terminal, use --yes. Refuses to revoke the certificate that you use, those of administrators and those of the control plane, unless --force is given. Works only with trustadm's own server: Kubernetes has no such list. Kubelets and other programs that trust the CA do not know the list either.`
  static override examples = [
    '<%= config.bin %> <%= command.id %> --node worker-1 --reason "stolen laptop"',
    '<%= config.bin %> <%= command.id %> node-csr-3Q2d',
    '<%= config.bin %> <%= command.id %> 5f2c9a41d07be86312f04c55aa90b1d7 --dry-run',
    '<%= config.bin %> <%= command.id %> --file ada.conf',
  ]
  static override args = {
    certificate: Args.string({
      multiple: true,
      ignoreStdin: true,
      description: 'the names of requests, or serial numbers of certificates',
    }),
  }
  static override flags = {
    ...clusterFlags,
    node: Flags.string({helpValue: '<name>', summary: 'all certificates of this node'}),
    pin: Flags.string({
      helpValue: '<sha256:…>',
      summary: 'the key with this pin, as "certificate show" prints it',
    }),
    file: Flags.string({
      char: 'f',
      helpValue: '<file>',
      summary: 'the certificate in this file: PEM, or a kubeconfig',
    }),
    reason: Flags.string({helpValue: '<text>', summary: 'why, for people'}),
    'keep-key': Flags.boolean({
      summary: 'revoke only these certificates, by serial number, and not their keys',
    }),
    force: Flags.boolean({
      summary: 'revoke even your own certificate, or one that the control plane needs',
    }),
    yes,
    'dry-run': dryRun,
    output: wideOutput,
  }

  async run(): Promise<void> {
    const {argv, flags} = await this.parse(CertificateRevoke)
    const {revokeNamed} = await import('../../cli/requests/revoke.ts')
    const {revokedView} = await import('../../cli/views/revocations.ts')
    const done = await revokeNamed({...flags, names: argv as string[]}, this.clock)
    if (!done) {
      process.stderr.write('Nothing was revoked.\n')
      return this.endWith(1)
    }
    await this.print(done, flags.output, revokedView(flags['dry-run']))
  }
}
