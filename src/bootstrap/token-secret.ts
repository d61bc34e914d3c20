import type {Secret} from '../api/core.ts'
import {type BootstrapTokenInfo, TOKEN_USAGES} from './token-info.ts'
import {formatTimestamp} from '../runtime.ts'

export const TOKEN_SECRET_TYPE = 'bootstrap.kubernetes.io/token'
export const TOKEN_SECRET_NAMESPACE = 'kube-system'
export const TOKEN_SECRET_PREFIX = 'bootstrap-token-'

/** Keys of the Secret's data. */
export const TOKEN_KEY = {
  id: 'token-id',
  secret: 'token-secret',
  description: 'description',
  expiration: 'expiration',
  groups: 'auth-extra-groups',
  /** An early name of the groups in Kubernetes: read, never written. */
  formerGroups: 'auth-groups',
  signing: 'usage-bootstrap-signing',
  authentication: 'usage-bootstrap-authentication',
} as const

export const tokenSecretName = (id: string): string => TOKEN_SECRET_PREFIX + id

/** The Secret of a token, with the same keys as kubeadm writes. */
export function toSecret({
  token,
  description,
  expires,
  usages,
  groups,
}: BootstrapTokenInfo): Secret {
  const values: Record<string, string> = {
    [TOKEN_KEY.id]: token.id,
    [TOKEN_KEY.secret]: token.secret,
  }
  if (description !== '') values[TOKEN_KEY.description] = description
  if (expires) values[TOKEN_KEY.expiration] = formatTimestamp(expires)
  for (const usage of TOKEN_USAGES) if (usages[usage]) values[TOKEN_KEY[usage]] = 'true'
  if (groups.length > 0) values[TOKEN_KEY.groups] = groups.join(',')
  return {
    apiVersion: 'v1',
    kind: 'Secret',
    metadata: {name: tokenSecretName(token.id), namespace: TOKEN_SECRET_NAMESPACE},
    type: TOKEN_SECRET_TYPE,
    data: Object.fromEntries(
      Object.entries(values).map(([key, value]) => [key, Buffer.from(value).toString('base64')]),
    ),
  }
}
