import {jwsKey} from '../bootstrap/cluster-info.ts'
import {findJwsFlaw, type JwsFlaw} from '../bootstrap/jws.ts'
import type {BootstrapToken} from '../bootstrap/token.ts'
import {elsewhere, type ErrorCode, TrustError} from '../errors.ts'
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
