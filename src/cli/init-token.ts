import * as Flags from '@oclif/core/flags'
import type {InitContext} from '../control-plane/init/phase.ts'
import type {WantedToken} from '../control-plane/tokens/create.ts'
import {TrustError} from '../errors.ts'
import type {Clock} from '../runtime.ts'

/** The flags of `init` about the token that machines join with: kubeadm's, and ours. */
export const initTokenFlags = {
  token: Flags.string({
    helpValue: '<token>',
    summary:
      'the token that machines join with; "" creates none, - reads stdin [default: $TRUSTADM_TOKEN; else a random one]',
  }),
  'token-file': Flags.string({
    helpValue: '<file>',
    exclusive: ['token'],
    summary: 'a file with that token, which hides it from other users of this machine',
  }),
  'token-ttl': Flags.string({
    helpValue: '<duration>',
    summary:
      'how long the token is valid from now, as in "1h30m"; 0 for no expiry; also changes the token of an earlier run [default: 24h]',
  }),
  'skip-token-print': Flags.boolean({
    summary: 'print neither the token nor the join command',
  }),
  'allow-weak': Flags.boolean({
    summary: 'accept a token that is easy to guess',
  }),
}

export interface InitTokenFlagValues {
  token?: string | undefined
  'token-file'?: string | undefined
  'token-ttl'?: string | undefined
  'allow-weak'?: boolean | undefined
}

/** The tokens for `init` to create or keep. They are checked before anything is written. */
export async function tokensFor(
  flags: InitTokenFlagValues,
  fromFile: readonly WantedToken[] | undefined,
  warn: (line: string) => void,
  clock: Clock,
): Promise<NonNullable<InitContext['tokens']>> {
  const {parseDuration} = await import('../bootstrap/durations.ts')
  const {completeToken} = await import('../control-plane/tokens/create.ts')
  const {readToken} = await import('./token-source.ts')
  const isUnwanted = flags.token === ''
  const named = isUnwanted
    ? undefined
    : await readToken({argument: flags.token, file: flags['token-file']}, warn)
  const ttl = flags['token-ttl']
  const duration = ttl === undefined ? undefined : parseDuration(ttl, '--token-ttl')
  if (isUnwanted && duration !== undefined) {
    throw new TrustError('USAGE', '--token-ttl needs a token, but --token "" creates none', {
      hints: ['leave out one of the two'],
    })
  }
  const policy = {allowWeak: flags['allow-weak'], setsLifetime: duration !== undefined}
  const chosen = named ? [{token: named}] : (fromFile ?? [{}])
  const wanted = isUnwanted
    ? []
    : chosen.map((one) => (duration === undefined ? one : withLifetime(one, duration)))
  for (const one of wanted) completeToken(one, clock.now(), policy)
  return {...policy, wanted}
}

/** Flags win over the file. */
const withLifetime = ({expires: _, ...wanted}: WantedToken, ttl: number): WantedToken => ({
  ...wanted,
  ttl,
})
