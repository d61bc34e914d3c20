import {formatToken} from '../bootstrap/token.ts'
import {TrustError} from '../errors.ts'
import type {JoinChoices} from './join-config.ts'
import type {JoinFlagValues} from './join-flags.ts'
import {readToken} from './token-source.ts'

type Environment = Record<string, string | undefined>
type Warn = (line: string) => void

/** The tokens of a join; each may be absent. */
export interface JoinTokens {
  /** Identifies the cluster. */
  discovery: string | undefined
  /** Authenticates this machine. */
  authentication: string | undefined
}

const TOKEN_FLAGS = ['token', 'discovery-token', 'tls-bootstrap-token'] as const
const FILE_TOKENS = ['token', 'discoveryToken', 'tlsBootstrapToken'] as const

/** Only one value can be read from the standard input. */
function requireOneInput(flags: JoinFlagValues): void {
  const readers = [...TOKEN_FLAGS, 'token-file', 'discovery-file', 'certificate-key'] as const
  const found = readers.filter((name) => flags[name] === '-').map((name) => `--${name}`)
  if (found.length < 2) return
  throw new TrustError('USAGE', `${found.join(' and ')} cannot both read from stdin`, {
    hints: ['put one of them in a file, or the token in $TRUSTADM_TOKEN'],
  })
}

/** With a bootstrap kubeconfig no token is needed. One in the environment may be for other machines. */
function refuseTokens(flags: JoinFlagValues, file: JoinChoices): void {
  const flag = [...TOKEN_FLAGS, 'token-file' as const].find((name) => flags[name] !== undefined)
  const field = FILE_TOKENS.find((name) => file[name] !== undefined)
  const [found] = [
    ...(flag === undefined ? [] : [`--${flag}`]),
    ...(field === undefined ? [] : [field]),
  ]
  if (found === undefined) return
  throw new TrustError('USAGE', `a bootstrap kubeconfig and ${found} cannot be used together`, {
    hints: ['leave one out: the kubeconfig contains the credential'],
  })
}

async function read(
  source: {argument?: string | undefined; file?: string | undefined},
  warn: Warn,
  environment: Environment = {},
): Promise<string | undefined> {
  const token = await readToken(source, warn, environment)
  return token && formatToken(token)
}

/** Warns once about tokens on the command line, however many there are. */
function once(warn: Warn): Warn {
  const said = new Set<string>()
  return (line) => {
    if (!said.has(line)) warn(line)
    said.add(line)
  }
}

/**
 * Finds the tokens: on the command line, else in the file, else in the environment. With a discovery file, one that is not on the
 * command line is only for authentication.
 */
export async function joinTokens(
  flags: JoinFlagValues,
  file: JoinChoices,
  warn: Warn,
  environment: Environment = process.env,
): Promise<JoinTokens> {
  requireOneInput(flags)
  if ((flags['bootstrap-kubeconfig'] ?? file.bootstrapKubeconfig) !== undefined) {
    refuseTokens(flags, file)
    return {discovery: undefined, authentication: undefined}
  }
  const warnOnce = once(warn)
  // The line that "init" printed has it, which is short-lived: no warning for following it.
  const fromArgument = await read({argument: flags.token}, () => undefined)
  const fromFile = await read({file: flags['token-file']}, warnOnce)
  const hasDocument = (flags['discovery-file'] ?? file.discoveryFile) !== undefined
  const quiet = fromFile ?? file.token ?? (await read({}, warnOnce, environment))
  const own = {
    discovery: await read({argument: flags['discovery-token']}, warnOnce),
    authentication: await read({argument: flags['tls-bootstrap-token']}, warnOnce),
  }
  const said = fromArgument ?? (hasDocument ? undefined : fromFile)
  return {
    discovery: own.discovery ?? said ?? file.discoveryToken ?? (hasDocument ? undefined : quiet),
    authentication:
      own.authentication ??
      fromArgument ??
      fromFile ??
      file.tlsBootstrapToken ??
      file.discoveryToken ??
      quiet,
  }
}
