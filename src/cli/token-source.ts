import {parseToken, type BootstrapToken} from '../bootstrap/token.ts'
import {TrustError} from '../errors.ts'
import {readSecretFile} from './secret-file.ts'

/** Where a token may come from, the first that is given. */
export interface TokenSource {
  /** What stood on the command line; `-` is the standard input. */
  argument?: string | undefined
  file?: string | undefined
}

type Environment = Record<string, string | undefined>

const TOKEN_VARIABLE = 'TRUSTADM_TOKEN'

const EXPOSED =
  'a token on the command line can be seen by every user of this machine: use --token-file, or "-" and the standard input'

/** Reads a token from where it was put; undefined where nobody gave one. No error shows a letter of it. */
export async function readToken(
  {argument, file}: TokenSource,
  warn: (line: string) => void,
  environment: Environment = process.env,
): Promise<BootstrapToken | undefined> {
  if (argument !== undefined && file !== undefined) {
    throw new TrustError('USAGE', 'the token and --token-file do not go together', {
      hints: ['leave the token out, for the file keeps it from being seen'],
    })
  }
  const text = await textOf({argument, file}, environment)
  if (text === undefined) return undefined
  if (argument === text) warn(EXPOSED)
  return parseToken(text)
}

async function textOf(
  {argument, file}: TokenSource,
  environment: Environment,
): Promise<string | undefined> {
  if (file !== undefined) return await readSecretFile(file)
  if (argument === undefined) {
    // An empty variable is one that was not filled in, as in unit files and templates.
    return environment[TOKEN_VARIABLE] === '' ? undefined : environment[TOKEN_VARIABLE]
  }
  return argument === '-' ? await readSecretFile('-') : argument
}
