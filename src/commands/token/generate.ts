import {TrustCommand} from '../../cli/command.ts'
import {output} from '../../cli/flags.ts'

export default class TokenGenerate extends TrustCommand {
  static override summary = 'print a new random token'
  static override description =
    'Prints a new token, without contacting a server. To use it, pass it to "init" or "token create" with --token-file.'
  static override examples = [
    '<%= config.bin %> <%= command.id %>',
    {
      description: 'Choose the token before the control plane exists:',
      command: '<%= config.bin %> <%= command.id %> | <%= config.bin %> init --token-file -',
    },
  ]
  static override flags = {output}

  async run(): Promise<void> {
    const {flags} = await this.parse(TokenGenerate)
    const {generateToken} = await import('../../bootstrap/generate-token.ts')
    const {formatToken} = await import('../../bootstrap/token.ts')
    const token = generateToken()
    await this.print({token: formatToken(token)}, flags.output, {
      table: (result) => `${result.token}\n`,
      name: () => [token.id],
    })
  }
}
