import * as Args from '@oclif/core/args'
import * as Flags from '@oclif/core/flags'
import {clusterFlags} from '../../cli/cluster.ts'
import {TrustCommand} from '../../cli/command.ts'
import {dryRun, output} from '../../cli/flags.ts'

const BY_FILE = ['usages', 'ttl', 'description', 'groups', 'token-file']

export default class TokenCreate extends TrustCommand {
  static override summary = 'create a bootstrap token in a cluster'
  static override description = `Stores a token that machines can find the cluster by (usage "signing") and are let in by (usage "authentication"), and prints it.
Whoever has it can bring machines into the cluster: let it live no longer than it has to, and delete it when it is no longer needed.

The join line of --print-join-command works for kubeadm too, with the program's name changed.`
  static override examples = [
    '<%= config.bin %> <%= command.id %> --ttl 2h',
    '<%= config.bin %> <%= command.id %> --print-join-command',
    {
      description: 'A token for finding the cluster only, which lets nobody in:',
      command: '<%= config.bin %> <%= command.id %> --usages signing --description "for the wall"',
    },
  ]
  static override args = {
    token: Args.string({
      ignoreStdin: true,
      description:
        'the token, or - to read it from the standard input [default: $TRUSTADM_TOKEN; else a random one]',
    }),
  }
  static override flags = {
    ...clusterFlags,
    'token-file': Flags.string({
      helpValue: '<file>',
      summary: 'a file with the token, where no other user of this machine can see it',
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
    description: Flags.string({helpValue: '<text>', summary: 'what people should know of it'}),
    groups: Flags.string({
      helpValue: '<groups>',
      multiple: true,
      multipleNonGreedy: true,
      delimiter: ',',
      summary:
        'groups of whoever uses the token, beside system:bootstrappers [default: system:bootstrappers:kubeadm:default-node-token]',
    }),
    config: Flags.string({
      helpValue: '<file>',
      exclusive: BY_FILE,
      summary: "a file with kubeadm's InitConfiguration: all of its bootstrapTokens are created",
    }),
    'print-join-command': Flags.boolean({
      summary: 'print the line that brings a machine into the cluster instead of the token',
    }),
    'allow-weak': Flags.boolean({summary: 'take a token that is easy to guess'}),
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
