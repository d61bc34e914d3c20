import {clusterInfoInvalid, jwsKey} from '../bootstrap/cluster-info.ts'
import {findJwsFlaw, type JwsFlaw} from '../bootstrap/jws.ts'
import {parseClusterInfo} from '../bootstrap/parse-cluster-info.ts'
import type {BootstrapToken} from '../bootstrap/token.ts'
import {withRetry} from '../client/patience.ts'
import {printable} from '../client/printable.ts'
import {elsewhere, type ErrorCode, EXIT, TrustError} from '../errors.ts'
import type {Certificate} from '../pki/certificate.ts'
import {formatName} from '../pki/distinguished-name.ts'
import {isPinned, type Pin, pinOf} from '../pki/pins.ts'
import {verifyChain} from '../pki/verify.ts'
import {authoritiesOf, pinsOf, type TrustedClusterInfo} from './cluster-info.ts'
import type {TokenPlan} from './plan.ts'
import {type ClusterInfoRead, readClusterInfo, type Trust} from './read-cluster-info.ts'
import {type Failure, firstGood} from './attempts.ts'
import type {DiscoveryContext} from './settings.ts'
import {requireCurrentAuthorities} from './validity.ts'

type ReadClusterInfo = (trust: Trust) => Promise<ClusterInfoRead>

/** What one server has proven about its cluster. */
type ProvenInfo = Omit<TrustedClusterInfo, 'endpoints' | 'source'>

/** Tries all endpoints in parallel, as `kubeadm join` does; the first that proves to be the cluster wins. */
export async function discoverByToken(
  {token, endpoints, pins}: TokenPlan,
  context: DiscoveryContext,
): Promise<TrustedClusterInfo> {
  const {server, value, failures} = await firstGood(
    endpoints,
    async (endpoint, signal) => {
      const limited = {...context, signal}
      const prove = (signal: AbortSignal) => {
        const read: ReadClusterInfo = (trust) =>
          readClusterInfo(endpoint, trust, {...limited, signal})
        return proveByToken(read, {token, pins}, limited.clock.now())
      }
      return await withRetry(endpoint, prove, limited)
    },
    context.signal,
  )
  const addresses = new Set([server, ...endpoints])
  addresses.delete(value.server)
  return {
    ...value,
    endpoints: [...addresses],
    source: 'token',
    warnings: [...value.warnings, ...failures.flatMap(distrustWarning)],
  }
}

/**
 * The order of the checks matters: an unverified read; the token's signature over it; the pins of all CAs in it; then the same
 * text again from a server that is verified with those CAs. Without a pin, the signature is the only proof.
 */
export async function proveByToken(
  read: ReadClusterInfo,
  {token, pins}: Pick<TokenPlan, 'token' | 'pins'>,
  now: Date,
): Promise<ProvenInfo> {
  const claimed = await read({insecure: true})
  try {
    await requireSigned(claimed, token)
    const info = parseClusterInfo(claimed.kubeconfig)
    const authorities = authoritiesOf(info)
    const {kubeconfig, serverTime} = claimed
    const found = pinsOf(authorities)
    if (pins.size === 0) {
      requireCurrentAuthorities(authorities, {now, serverTime})
      return {...info, kubeconfig, pins: found, warnings: [unpinnedWarning(found)]}
    }

    if (authorities.length === 0) {
      throw clusterInfoInvalid(
        'cluster-info',
        'a CA is pinned, but it contains none',
        elsewhere(
          'delete the ConfigMap "cluster-info" of the namespace kube-public, then run "trustadm init phase cluster-info" on the control plane',
        ),
      )
    }
    requirePinned(authorities, pins, now)
    requireCurrentAuthorities(authorities, {now, serverTime})
    await claimed.connection?.offerTo(info, now)
    const confirmed = await read({ca: info.ca, tlsServerName: info.tlsServerName, serverTime})
    if (confirmed.kubeconfig !== kubeconfig) throw changed()
    return {...info, kubeconfig, pins: found, warnings: []}
  } finally {
    await claimed.connection?.close()
  }
}

function changed(): TrustError {
  return new TrustError(
    'CLUSTER_INFO_CHANGED',
    'cluster-info was different when it was read a second time, over a verified connection',
    {
      hints: [
        'if the cluster was just being changed, run the command again',
        'if it happens again, stop: someone is intercepting the connection to the cluster',
      ],
    },
  )
}

function unpinnedWarning(found: readonly Pin[]): string {
  const advice = found.map((pin) => `--discovery-token-ca-cert-hash ${pin}`).join(' ')
  const next = advice === '' ? '' : `; to pin it next time, add ${advice}`
  return `the CA of the cluster was not pinned, so anyone who knows the token could have pretended to be the cluster${next}`
}

/** Warns about a server that pretends to be the cluster, not about one that is unreachable. */
function distrustWarning({server, error}: Failure): string[] {
  if (!(error instanceof TrustError) || error.oclif.exit !== EXIT.notTrusted) return []
  return [`${server} was skipped: ${error.message}`]
}

/**
 * Refuses a bundle unless every CA in it is pinned or chains up to a pinned one. kubeadm requires only one pinned CA, and so
 * accepts any other CA beside it.
 */
export function requirePinned(
  authorities: readonly Certificate[],
  pins: ReadonlySet<Pin>,
  now: Date,
): void {
  const roots = authorities.filter((one) => isPinned(one, pins))
  if (roots.length === 0) throw noneIsPinned(authorities)
  const others = authorities.filter((one) => !isPinned(one, pins))
  for (const other of others) {
    const {ok} = verifyChain(other, {roots, intermediates: others, usage: 'server auth', now})
    if (!ok) throw unpinned(other)
  }
}

function noneIsPinned(authorities: readonly Certificate[]): TrustError {
  const found = authorities.map(pinOf)
  const keys =
    found.length > 0 ? `none of the public keys ${found.join(', ')} is pinned` : 'there is none'
  return new TrustError(
    'PIN_MISMATCH',
    `the cluster CA in cluster-info is not the pinned one: ${keys}`,
    {
      facts: {found},
      hints: [
        'check that the hash was copied completely, and that the address belongs to the same cluster',
        elsewhere(
          'if the CAs of the cluster were rotated since, get a new join command: "trustadm token create --print-join-command" on the control plane',
        ),
        'if neither is the case, stop: someone is intercepting the connection to the cluster',
      ],
    },
  )
}

function unpinned(certificate: Certificate): TrustError {
  const pin = pinOf(certificate)
  const name = printable(formatName(certificate.subject))
  return new TrustError(
    'CA_UNPINNED',
    `cluster-info contains a CA that is neither pinned nor signed by a pinned one: ${name}, ${pin}`,
    {
      facts: {pin},
      hints: [
        'during a rotation of the CA, get a new join command from the control plane: it pins both CAs',
        'add this hash only if the operator of the cluster gave it to you',
      ],
    },
  )
}

const FLAWS: Record<JwsFlaw, {code: ErrorCode; says: string}> = {
  malformed: {code: 'SIGNATURE_MALFORMED', says: 'it cannot be read'},
  'wrong-algorithm': {code: 'SIGNATURE_ALGORITHM_REFUSED', says: 'its algorithm is not HS256'},
  'wrong-key-id': {code: 'SIGNATURE_OF_OTHER_TOKEN', says: 'it names another token'},
  'wrong-signature': {code: 'SIGNATURE_WRONG', says: 'it was not made with this token'},
}

/** Refuses cluster-info unless the token has signed it, as `kubeadm join` does. */
async function requireSigned(
  {kubeconfig, data}: Pick<ClusterInfoRead, 'kubeconfig' | 'data'>,
  token: BootstrapToken,
): Promise<void> {
  const jws = data[jwsKey(token.id)]
  const facts = {tokenId: token.id}
  if (jws === undefined) {
    throw new TrustError(
      'SIGNATURE_MISSING',
      `there is no JWS signature in cluster-info for token ID "${token.id}": the token does not exist, has expired, or is not for signing`,
      {
        facts,
        hints: [
          elsewhere('check it with "trustadm token list" on the control plane'),
          elsewhere('to create a new one, run "trustadm token create --print-join-command" there'),
        ],
      },
    )
  }
  const flaw = typeof jws === 'string' ? await findJwsFlaw(jws, kubeconfig, token) : 'malformed'
  if (flaw === undefined) return
  const {code, says} = FLAWS[flaw]
  throw new TrustError(
    code,
    `the JWS signature of cluster-info does not verify, so this API server cannot be trusted: ${says}`,
    {
      facts,
      hints: [
        'check that the token was copied completely, and that the address belongs to the same cluster',
        'if both are right, stop: someone is intercepting the connection to the cluster',
      ],
    },
  )
}
