import {encodeBundle, parseBundle} from '../pki/bundle.ts'

/** What nodes have to know about the CAs of a control plane in which clients have CAs of their own. */
export interface NodeIssuers {
  /** The key of the CA that signs the certificates of nodes now, as subject key identifier. A node whose certificate is from another one renews it. */
  client?: string
  serving?: string
  /** The CAs whose certificates kubelets accept from their callers, as PEM. */
  kubeletClientCa?: string
}

/** The extension of the cluster in cluster-info's kubeconfig. Other programs ignore extensions that they do not know. */
const ISSUERS_EXTENSION = 'trustadm.io/node-issuers'

const KEY_ID = /^[0-9a-f]{1,128}$/

const keyIdOf = (value: unknown): string | undefined =>
  typeof value === 'string' && KEY_ID.test(value) ? value : undefined

/** In characters: two generations, each with some CAs beside it. */
const LARGEST = 64 * 1024

function bundleOf(value: unknown): string | undefined {
  if (typeof value !== 'string' || value.length > LARGEST) return undefined
  try {
    return encodeBundle(parseBundle(value))
  } catch {
    return undefined
  }
}

/** The `extensions` of a kubeconfig's cluster. */
export const issuersExtension = (issuers: NodeIssuers | undefined): object[] =>
  issuers === undefined ? [] : [{name: ISSUERS_EXTENSION, extension: {...issuers}}]

/** Reads the `extensions` of a kubeconfig's cluster. What cannot be read does not count: nothing is trusted because of it. */
export function readIssuers(extensions: unknown): NodeIssuers | undefined {
  if (!Array.isArray(extensions)) return undefined
  const found = (extensions as ({name?: unknown; extension?: unknown} | null)[]).find(
    (one) => one?.name === ISSUERS_EXTENSION,
  )
  if (typeof found?.extension !== 'object' || found.extension === null) return undefined
  const {client, serving, kubeletClientCa} = found.extension as Record<keyof NodeIssuers, unknown>
  const [clientKey, servingKey] = [keyIdOf(client), keyIdOf(serving)]
  const bundle = bundleOf(kubeletClientCa)
  return {
    ...(clientKey !== undefined && {client: clientKey}),
    ...(servingKey !== undefined && {serving: servingKey}),
    ...(bundle !== undefined && {kubeletClientCa: bundle}),
  }
}
