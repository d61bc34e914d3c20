import {SERVICE_ACCOUNT_KEYS} from '../../pki/catalog.ts'
import type {SeenClient} from '../../server/authn/seen-clients.ts'
import {pinOfKeyId} from '../../trust/token-keys.ts'
import {stillUsed} from './client-dependents.ts'
import type {Dependent, DependentOptions, Evidence} from './dependent.ts'
import {partsOf} from './generation-parts.ts'
import type {Journal} from './journal.ts'

const pinsOf = ({units}: Journal, {on}: DependentOptions): ReadonlySet<string> =>
  partsOf(units, SERVICE_ACCOUNT_KEYS.id, on).pins

/** Service accounts that were seen with a token of the generation, and have not come back with another one. */
export function tokenDependents(
  journal: Journal,
  {seen}: Evidence,
  options: DependentOptions,
): Dependent[] {
  const {on} = options
  // Programs of one pod may fetch their tokens at different times.
  const keyOf = ({user, address}: SeenClient) => `${user}\n${address}`
  return stillUsed(seen?.tokens.clients ?? [], pinsOf(journal, options), options, keyOf).map(
    ({user, lastSeen, address, userAgent}) => ({
      kind: 'token',
      name: user,
      reasons: [`uses a token that the ${on} key has signed`],
      todo: `let ${user} fetch a new token: restart its pods, or create one with "kubectl create token"`,
      lastSeen,
      address,
      userAgent,
    }),
  )
}

/** Secrets whose token cannot be replaced. Those that can are refilled before anybody is asked. */
export function secretDependents(
  journal: Journal,
  {tokenSecrets = []}: Evidence,
  options: DependentOptions,
): Dependent[] {
  const pins = pinsOf(journal, options)
  return tokenSecrets
    .filter(({keyId}) => pins.has(pinOfKeyId(keyId)))
    .map(({name}) => ({
      kind: 'secret',
      name,
      reasons: [`has a token that the ${options.on} key has signed`],
      todo: `if the Secret ${name} is immutable, delete it and create it again`,
    }))
}
