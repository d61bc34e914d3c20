import * as Args from '@oclif/core/args'
import * as Flags from '@oclif/core/flags'
import {clusterFlags} from '../../cli/cluster.ts'
import {TrustCommand} from '../../cli/command.ts'
import {wideOutput} from '../../cli/flags.ts'

export default class CertificateDownload extends TrustCommand {
  static override summary = 'print the certificate of a request'
  static override description =
    'Prints the issued certificate as PEM, with the chain that its signer added. If there is none, the exit code says why: 5 pending, 4 denied, 1 failed.'
  static override examples = [
    '<%= config.bin %> <%= command.id %> ada-1f0c > ada.crt',
    '<%= config.bin %> <%= command.id %> ada-1f0c --out ada.crt',
  ]
  static override args = {
    name: Args.string({required: true, ignoreStdin: true, description: 'the name of the request'}),
  }
  static override flags = {
    ...clusterFlags,
    out: Flags.string({helpValue: '<file>', summary: 'write it to this file instead'}),
    output: wideOutput,
  }

  async run(): Promise<void> {
    const {args, flags} = await this.parse(CertificateDownload)
    const {downloadCertificate} = await import('../../control-plane/requests/obtain.ts')
    const {downloadView} = await import('../../cli/views/requests-done.ts')
    const {withCluster} = await import('../../cli/with-cluster.ts')
    const downloaded = await withCluster(flags, ({client}) =>
      downloadCertificate(client, args.name),
    )
    if (flags.out !== undefined) {
      const {writeFileSafely} = await import('../../fs/files.ts')
      await writeFileSafely(flags.out, downloaded.pem, {mode: 0o644})
    }
    await this.print({...downloaded, file: flags.out ?? null}, flags.output, downloadView)
  }
}
