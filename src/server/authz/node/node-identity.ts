import type {UserInfo} from '../../../api/meta.ts'
import {NODE_PREFIX, NODES} from '../../../csr/node-names.ts'

/**
 * The name of the node that a user is; undefined where it is none. As Kubernetes' NodeIdentifier: user name and group both have
 * to say so. A user that is nothing but the prefix is a node without a name, which must be refused, not let pass as nobody's.
 */
export const nodeOf = ({username, groups}: UserInfo): string | undefined =>
  username.startsWith(NODE_PREFIX) && groups.includes(NODES)
    ? username.slice(NODE_PREFIX.length)
    : undefined
