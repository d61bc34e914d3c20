import * as Flags from '@oclif/core/flags'
import {TrustCommand} from '../cli/command.ts'
import {KUBERNETES_VERSION, VERSION} from '../version.ts'

export default class Version extends TrustCommand {
  static override summary = 'print the version of trustadm'
  static override description =
    'Prints the version of this program and the Kubernetes release that its server is compatible with. Contacts no server.'
  static override examples = [
    '<%= config.bin %> <%= command.id %>',
    '<%= config.bin %> <%= command.id %> --output json',
  ]
  static override flags = {
    output: Flags.option({
      char: 'o',
      helpGroup: 'COMMON',
      summary: 'how the result is printed',
      options: ['table', 'short', 'json', 'yaml'] as const,
      default: 'table',
    })(),
  }

  async run(): Promise<void> {
    const {flags} = await this.parse(Version)
    const result = {
      version: `v${VERSION}`,
      kubernetesVersion: KUBERNETES_VERSION,
      nodeVersion: process.version,
      platform: `${process.platform}/${process.arch}`,
    }
    const short = flags.output === 'short'
    await this.print(result, flags.output, {
      table: ({version, kubernetesVersion, nodeVersion, platform}) =>
        short
          ? `${version}\n`
          : `trustadm ${version} (Kubernetes ${kubernetesVersion}, Node ${nodeVersion}, ${platform})\n`,
    })
  }
}
