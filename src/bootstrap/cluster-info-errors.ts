import {TrustError} from '../errors.ts'

export function clusterInfoInvalid(
  source: string,
  problem: string,
  ...hints: string[]
): TrustError {
  return new TrustError('CLUSTER_INFO_INVALID', `${source} says nothing to go by: ${problem}`, {
    hints:
      hints.length > 0
        ? hints
        : ['it has to be a kubeconfig with one cluster: a server and its CA, and nothing else'],
  })
}

export function credentialsInside(source: string, field: string): TrustError {
  return new TrustError(
    'CLUSTER_INFO_CREDENTIALS',
    `${source} holds credentials (${field}), and what tells machines where the cluster is must not`,
    {
      hints: [
        `take ${field} out; if others could read it, those credentials are to be replaced`,
        'how this machine authenticates is said by --tls-bootstrap-token',
      ],
      facts: {field},
    },
  )
}
