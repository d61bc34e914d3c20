import {TrustError, type Hint} from '../errors.ts'

export function clusterInfoInvalid(source: string, problem: string, ...hints: Hint[]): TrustError {
  return new TrustError('CLUSTER_INFO_INVALID', `${source} cannot be used: ${problem}`, {
    hints:
      hints.length > 0
        ? hints
        : ['it must be a kubeconfig with one cluster: a server and its CA, and nothing else'],
  })
}

export function credentialsInside(source: string, field: string): TrustError {
  return new TrustError(
    'CLUSTER_INFO_CREDENTIALS',
    `${source} contains credentials (${field}), and cluster-info must not`,
    {
      hints: [
        `remove ${field}; if others could read it, replace those credentials`,
        'to authenticate this machine, use --tls-bootstrap-token',
      ],
      facts: {field},
    },
  )
}
