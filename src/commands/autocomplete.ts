import * as Args from '@oclif/core/args'
import {TrustCommand} from '../cli/command.ts'
import {SHELLS, type Shell} from '../cli/completion.ts'

export default class Autocomplete extends TrustCommand {
  static override summary = 'print a script that completes commands, flags and names in your shell'
  static override description =
    'The script asks this program what may come next: commands, flags and their values, and the names of requests, tokens, certificates, nodes and Machines of the cluster that the command line means. A cluster that does not respond within 1.5 s is left out, unless --request-timeout is on the line and says longer.'
  static override examples = [
    {
      description: 'For this session of bash:',
      command: 'source <(<%= config.bin %> <%= command.id %> bash)',
    },
    {
      description: 'For every session of zsh:',
      command: "echo 'source <(<%= config.bin %> <%= command.id %> zsh)' >> ~/.zshrc",
    },
    {
      description: 'For every session of fish:',
      command:
        '<%= config.bin %> <%= command.id %> fish > ~/.config/fish/completions/<%= config.bin %>.fish',
    },
  ]
  static override args = {
    shell: Args.string({required: true, options: [...SHELLS], description: 'the shell'}),
  }

  async run(): Promise<void> {
    const {args} = await this.parse(Autocomplete)
    const {completionScript} = await import('../cli/completion.ts')
    process.stdout.write(completionScript(args.shell as Shell))
  }
}
