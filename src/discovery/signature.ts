import {jwsKey} from '../bootstrap/cluster-info.ts'
import {findJwsFlaw, type JwsFlaw} from '../bootstrap/jws.ts'
import type {BootstrapToken} from '../bootstrap/token.ts'
import {TrustError, type ErrorCode} from '../errors.ts'
import type {ClusterInfoRead} from './read-cluster-info.ts'

const FLAWS: Record<JwsFlaw, {code: ErrorCode; says: string}> = {
  malformed: {code: 'SIGNATURE_MALFORMED', says: 'it cannot be read'},
  'wrong-algorithm': {code: 'SIGNATURE_ALGORITHM_REFUSED', says: 'its algorithm is not HS256'},
  'wrong-key-id': {code: 'SIGNATURE_OF_OTHER_TOKEN', says: 'it names another token'},
  'wrong-signature': {code: 'SIGNATURE_WRONG', says: 'it was not made with this token'},
}

/** Refuses cluster-info unless the token has signed it, as `kubeadm join` does. */
export async function requireSigned(
  {kubeconfig, data}: Pick<ClusterInfoRead, 'kubeconfig' | 'data'>,
  token: BootstrapToken,
): Promise<void> {
  const jws = data[jwsKey(token.id)]
  const facts = {tokenId: token.id}
  if (jws === undefined) {
    throw new TrustError(
      'SIGNATURE_MISSING',
      `there is no JWS signature in cluster-info for token ID "${token.id}": the token is unknown there, has expired, or is not for signing`,
      {
        facts,
        hints: [
          'look for it with "trustadm token list" on the control plane',
          '"trustadm token create --print-join-command" there makes a new one',
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
        'check that the token was copied whole, and that the address is that of its cluster',
        'if both are right, somebody stands between this machine and the cluster: do not go on',
      ],
    },
  )
}
