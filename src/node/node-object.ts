import {isDeepStrictEqual} from 'node:util'
import type {Node} from '../api/node.ts'
import type {ApiClient} from '../client/api-client.ts'
import {TrustError, hasCode} from '../errors.ts'
import type {Clock} from '../runtime.ts'
import {architecture, nodeAddresses, operatingSystem, systemInfo} from './machine-facts.ts'

/** The Node of this machine, with the labels of a kubelet. It is not Ready: only a kubelet can report that. */
export async function nodeObject(name: string, server: string, clock: Clock): Promise<Node> {
  const [addresses, nodeInfo] = await Promise.all([nodeAddresses(name, server), systemInfo()])
  const system = {os: operatingSystem(), arch: architecture()}
  const time = `${clock.now().toISOString().slice(0, 19)}Z`
  return {
    apiVersion: 'v1',
    kind: 'Node',
    metadata: {
      name,
      labels: {
        'beta.kubernetes.io/arch': system.arch,
        'beta.kubernetes.io/os': system.os,
        'kubernetes.io/arch': system.arch,
        'kubernetes.io/hostname': hostnameLabel(name),
        'kubernetes.io/os': system.os,
      },
    },
    status: {
      addresses,
      nodeInfo,
      conditions: [
        {
          type: 'Ready',
          status: 'False',
          reason: 'KubeletNotRunning',
          message: 'the machine has joined; no kubelet has reported from it yet',
          lastHeartbeatTime: time,
          lastTransitionTime: time,
        },
      ],
    },
  }
}

const LONGEST_LABEL = 63

/** A name that is too long for a label is cut: nothing identifies the Node by its label. */
const hostnameLabel = (name: string): string =>
  name.slice(0, LONGEST_LABEL).replace(/[^a-z0-9]+$/, '')

export type Registration = 'registered' | 'updated' | 'kept'

/**
 * Registers the Node with the node's own identity, as a kubelet does. An existing one belongs to this machine, because the server
 * allows no other under that name: only what has changed is updated.
 */
export async function registerNode(
  {nodes}: Pick<ApiClient, 'nodes'>,
  node: Node & {metadata: {name?: string}},
  signal?: AbortSignal,
): Promise<Registration> {
  try {
    await nodes.create(node, {signal})
    return 'registered'
  } catch (error) {
    if (!hasCode(error, 'ALREADY_EXISTS')) throw error
  }
  const name = node.metadata.name ?? ''
  const standing = await nodes.get(name, {signal})
  const {addresses, nodeInfo} = node.status ?? {}
  // A kubelet knows more about the machine: if one is running, its report is not changed.
  if (isReady(standing) || isDeepStrictEqual(standing.status?.addresses, addresses)) return 'kept'
  const change = {type: 'merge', subresource: 'status', signal} as const
  await nodes.patch(name, {status: {addresses, nodeInfo}}, change)
  return 'updated'
}

/** Whether a kubelet reports the Node as Ready. */
const isReady = ({status}: Node): boolean =>
  status?.conditions?.some((one) => one.type === 'Ready' && one.status === 'True') ?? false

/** The Node of that name. A caller who may not read nodes finds none. */
async function findNode(
  {nodes}: Pick<ApiClient, 'nodes'>,
  name: string,
  signal?: AbortSignal,
): Promise<Node | undefined> {
  try {
    return await nodes.find(name, {signal})
  } catch (error) {
    if (hasCode(error, 'FORBIDDEN')) return undefined
    throw error
  }
}

/**
 * Refuses the name of a Node that is Ready, as `kubeadm join` does: two machines would compete for it. Returns a Node of that name
 * that is not Ready.
 */
export async function requireNameFree(
  client: Pick<ApiClient, 'nodes'>,
  name: string,
  signal?: AbortSignal,
): Promise<Node | undefined> {
  const node = await findNode(client, name, signal)
  if (!node || !isReady(node)) return node
  throw new TrustError('NODE_EXISTS', `the Node "${name}" already exists and is Ready`, {
    facts: {node: name},
    hints: [
      'choose another name with --node-name',
      `or, if this machine replaces it, run "kubectl delete node ${name}" on the control plane and join again: it then tells you how to allow that`,
    ],
  })
}
