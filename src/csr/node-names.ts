/** The group of every node. */
export const NODES = 'system:nodes'
/** A node's user is this and its name. */
export const NODE_PREFIX = 'system:node:'

export const nodeUser = (node: string): string => `${NODE_PREFIX}${node}`

/** The node that a user or a common name is of; undefined if it is no node's, or has no name. */
export function nodeOfUser(user: string): string | undefined {
  return user.startsWith(NODE_PREFIX) && user !== NODE_PREFIX
    ? user.slice(NODE_PREFIX.length)
    : undefined
}

export const LONGEST_NODE_NAME = 253
const NODE_NAME = /^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$/

/** Whether a Node can have that name: a DNS subdomain. */
export const isNodeName = (name: string): boolean =>
  name.length <= LONGEST_NODE_NAME && NODE_NAME.test(name)
