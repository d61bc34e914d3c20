/** The keys of the CAs that sign for nodes now, as subject key identifiers. A node whose certificate is from another one renews it. */
export interface NodeIssuers {
  client?: string
  serving?: string
}

/** The extension of the cluster in cluster-info's kubeconfig. Other programs ignore extensions that they do not know. */
const ISSUERS_EXTENSION = 'trustadm.io/node-issuers'

const KEY_ID = /^[0-9a-f]{1,128}$/

const keyIdOf = (value: unknown): string | undefined =>
  typeof value === 'string' && KEY_ID.test(value) ? value : undefined

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
  const {client, serving} = found.extension as Record<keyof NodeIssuers, unknown>
  const [clientKey, servingKey] = [keyIdOf(client), keyIdOf(serving)]
  return {
    ...(clientKey !== undefined && {client: clientKey}),
    ...(servingKey !== undefined && {serving: servingKey}),
  }
}
