import * as Args from '@oclif/core/args'
import * as Flags from '@oclif/core/flags'
import {clusterFlags} from '../../cli/cluster.ts'
import {TrustCommand} from '../../cli/command.ts'
import {dryRun, output} from '../../cli/flags.ts'

const BY_FILE = ['usages', 'ttl', 'description', 'groups', 'token-file']

export default class TokenCreate extends TrustCommand {
  static override summary = 'create a bootstrap token in a cluster'
  static override description = `Stores a token with which machines identify the cluster (usage "signing") and authenticate to it (usage "authentication"), and prints it.
Anyone who has it can join machines to the cluster: keep its lifetime short, and delete it when it is no longer needed.

The join command of --print-join-command works with kubeadm too: only the program's name changes.`
  static override examples = [
    '<%= config.bin %> <%= command.id %> --ttl 2h',
    '<%= config.bin %> <%= command.id %> --print-join-command',
    {
      description: 'A token that identifies the cluster but cannot authenticate:',
      command: '<%= config.bin %> <%= command.id %> --usages signing --description "for the wall"',
    },
  ]
  static override args = {
    token: Args.string({
      ignoreStdin: true,
      description: 'the token; - reads stdin [default: $TRUSTADM_TOKEN; else a random one]',
    }),
  }
  static override flags = {
    ...clusterFlags,
    'token-file': Flags.string({
      helpValue: '<file>',
      summary: 'a file with the token, which hides it from other users of this machine',
    }),
    usages: Flags.string({
      helpValue: '<usages>',
      multiple: true,
      multipleNonGreedy: true,
      delimiter: ',',
      summary: 'what the token is for: signing, authentication [default: both]',
    }),
    ttl: Flags.string({
      helpValue: '<duration>',
      summary: 'how long the token is valid, as in "1h30m"; 0 for no expiry [default: 24h]',
    }),
    description: Flags.string({helpValue: '<text>', summary: 'a description for people'}),
    groups: Flags.string({
      helpValue: '<groups>',
      multiple: true,
      multipleNonGreedy: true,
      delimiter: ',',
      summary:
        'groups of a machine that uses the token, in addition to system:bootstrappers [default: system:bootstrappers:kubeadm:default-node-token]',
    }),
    config: Flags.string({
      helpValue: '<file>',
      exclusive: BY_FILE,
      summary: "a file with kubeadm's InitConfiguration: creates all of its bootstrapTokens",
    }),
    'print-join-command': Flags.boolean({
      summary: 'print the join command for machines instead of the token',
    }),
    'allow-weak': Flags.boolean({summary: 'accept a token that is easy to guess'}),
    'dry-run': dryRun,
    output,
  }

  async run(): Promise<void> {
    const {args, flags} = await this.parse(TokenCreate)
    const {createTokens} = await import('../../cli/create-tokens.ts')
    const {createdTokensView} = await import('../../cli/views/tokens.ts')
    const created = await createTokens({...flags, token: args.token}, this.clock)
    await this.print(created, flags.output, createdTokensView)
  }
}
