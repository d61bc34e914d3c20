import {TrustError} from '../errors.ts'

/** Every bootstrap token is in this group. */
export const BOOTSTRAPPERS_GROUP = 'system:bootstrappers'
/** The group that kubeadm's RBAC lets join nodes. */
export const DEFAULT_NODE_GROUP = 'system:bootstrappers:kubeadm:default-node-token'

const GROUP = /^system:bootstrappers:[a-z0-9:-]{0,255}[a-z0-9]$/

export const isBootstrapGroup = (name: string): boolean => GROUP.test(name)

/** The groups of a comma-separated list, without duplicates; not checked. */
export function splitGroups(list: string): string[] {
  return list === '' ? [] : [...new Set(list.split(','))]
}

/** The groups for a new token, sorted and without duplicates; refuses groups that no token may have. */
export function requireGroups(names: readonly string[]): string[] {
  for (const name of names) {
    if (isBootstrapGroup(name)) continue
    throw new TrustError('USAGE', `a token cannot be in the group ${JSON.stringify(name)}`, {
      hints: [
        'a group is "system:bootstrappers:" followed by up to 256 characters of a-z, 0-9, ":" and "-", ending in a letter or digit',
      ],
    })
  }
  return [...new Set(names)].sort()
}

/** All groups of a token's user, in Kubernetes' order; undefined if one of them is not allowed. */
export function groupsOfUser(extra: readonly string[]): string[] | undefined {
  return extra.every(isBootstrapGroup)
    ? [...new Set([BOOTSTRAPPERS_GROUP, ...extra])].sort()
    : undefined
}
