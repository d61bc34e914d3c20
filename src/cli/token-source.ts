import {parseToken, type BootstrapToken} from '../bootstrap/token.ts'
import {TrustError} from '../errors.ts'
import {readSecretFile} from './secret-file.ts'

/** Where a token may come from; the first one given is used. */
export interface TokenSource {
  /** The value on the command line; `-` is the standard input. */
  argument?: string | undefined
  file?: string | undefined
}

type Environment = Record<string, string | undefined>

const TOKEN_VARIABLE = 'TRUSTADM_TOKEN'

const EXPOSED =
  'every user of this machine can see a token on the command line: use --token-file, or "-" to read it from stdin'

/** Reads a token from its source; undefined if there is none. No error shows any part of it. */
export async function readToken(
  {argument, file}: TokenSource,
  warn: (line: string) => void,
  environment: Environment = process.env,
): Promise<BootstrapToken | undefined> {
  if (argument !== undefined && file !== undefined) {
    throw new TrustError('USAGE', 'the token and --token-file cannot be used together', {
      hints: ['leave out the token: the file hides it from other users'],
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
    // An empty variable counts as not set: unit files and templates often leave it empty.
    return environment[TOKEN_VARIABLE] === '' ? undefined : environment[TOKEN_VARIABLE]
  }
  return argument === '-' ? await readSecretFile('-') : argument
}
