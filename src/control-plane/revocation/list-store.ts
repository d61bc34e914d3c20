import type {ConfigMap} from '../../api/core.ts'
import {type ApiClient, isOwnServer} from '../../client/api-client.ts'
import {TrustError, hasCode} from '../../errors.ts'
import {
  REVOCATION_NAMES,
  REVOCATION_NAMESPACE,
  encodeRevocation,
  endOf,
  readRevocations,
  type ReadRevocations,
  type Revocation,
  type RevocationId,
} from '../../trust/revocations.ts'

type Client = Pick<ApiClient, 'configMaps'>

/** With field owners and metadata, this is an object of 1.3 MB. The server accepts 1.5 MiB. */
const MOST_BYTES = 1_000_000
const MOST_CONFLICTS = 10

interface ListObject extends ReadRevocations {
  name: string
  /** Absent if it does not exist yet. */
  object: ConfigMap | undefined
}

/** Refuses a server that does not read the list: its user would believe that a certificate is revoked. */
export async function requireRevocations(client: Pick<ApiClient, 'version'>): Promise<void> {
  if (await isOwnServer(client)) return
  throw new TrustError(
    'REVOCATION_UNSUPPORTED',
    "this cluster's API server cannot revoke a certificate: only trustadm's own server can",
    {
      hints: [
        'to end the access of one user or node, remove its RBAC bindings, or delete its Node',
        "to end all certificates of a CA, replace the CA in the server's --client-ca-file",
      ],
    },
  )
}

/** All parts of the list, also those that do not exist yet. */
export async function readList({configMaps}: Client): Promise<ListObject[]> {
  return await Promise.all(
    REVOCATION_NAMES.map(async (name) => {
      const object = await configMaps.find({namespace: REVOCATION_NAMESPACE, name})
      return {name, object, ...readRevocations(object?.data)}
    }),
  )
}

const sizeOf = (id: string, value: string): number =>
  Buffer.byteLength(JSON.stringify(id)) + Buffer.byteLength(JSON.stringify(value)) + 2

/** The entries that still fit into a part of the list. */
function fitting(
  {object}: ListObject,
  revocations: readonly Revocation[],
): Record<string, string> | undefined {
  const added: Record<string, string> = {}
  let bytes = Object.entries(object?.data ?? {}).reduce(
    (sum, [id, value]) => sum + sizeOf(id, value),
    0,
  )
  for (const [id, value] of revocations.map(encodeRevocation)) {
    bytes += sizeOf(id, value)
    if (bytes > MOST_BYTES) break
    added[id] = value
  }
  return Object.keys(added).length > 0 ? added : undefined
}

/** Writes one part of the list. Returns false if it has changed since it was read. */
async function write(
  {configMaps}: Client,
  {name, object}: ListObject,
  data: Record<string, string>,
): Promise<boolean> {
  try {
    await (object === undefined
      ? configMaps.create({metadata: {namespace: REVOCATION_NAMESPACE, name}, data})
      : configMaps.update({...object, data}))
    return true
  } catch (error) {
    if (hasCode(error, 'CONFLICT', 'ALREADY_EXISTS', 'NOT_FOUND')) return false
    throw error
  }
}

const busy = (): TrustError =>
  new TrustError('CONFLICT', 'the list of revoked certificates is changed by others all the time')

/** An entry that stays as long as another for the same key or certificate. */
export function extended(present: Revocation, wanted: Revocation | undefined): Revocation {
  if (wanted === undefined || endOf(wanted) <= endOf(present)) return present
  const {expires: _expires, ...rest} = present
  return {...rest, ...(wanted.expires !== undefined && {expires: wanted.expires})}
}

/** What changes in a part of the list if its entries stay as long as others. */
function extensions(
  {revocations}: ListObject,
  wanted: ReadonlyMap<RevocationId, Revocation>,
): Record<string, string> | undefined {
  const changed = revocations.flatMap((one) => {
    const now = extended(one, wanted.get(one.id))
    return now === one ? [] : [encodeRevocation(now)]
  })
  return changed.length > 0 ? Object.fromEntries(changed) : undefined
}

/** Adds entries to the list. Those that are on it already stay, at least as long as asked for. Returns the ids that were added. */
export async function addToList(
  client: Client,
  revocations: readonly Revocation[],
): Promise<Set<RevocationId>> {
  const added = new Set<RevocationId>()
  const wanted = new Map(revocations.map((one) => [one.id, one]))
  for (let conflicts = 0; conflicts < MOST_CONFLICTS;) {
    const parts = await readList(client)
    const short = parts.find((one) => extensions(one, wanted))
    if (short) {
      const data = {...short.object?.data, ...extensions(short, wanted)}
      if (!(await write(client, short, data))) conflicts += 1
      continue
    }
    const present = new Set(parts.flatMap((part) => part.revocations.map(({id}) => id)))
    const left = revocations.filter(({id}) => !present.has(id))
    if (left.length === 0) return added
    const [part, data] = roomFor(parts, left)
    if (await write(client, part, {...part.object?.data, ...data})) {
      for (const {id} of left) if (id in data) added.add(id)
      // Not read again: the caller may just have revoked its own certificate.
      if (left.every(({id}) => id in data)) return added
    } else conflicts += 1
  }
  throw busy()
}

function roomFor(
  parts: readonly ListObject[],
  revocations: readonly Revocation[],
): [ListObject, Record<string, string>] {
  for (const part of parts) {
    const data = fitting(part, revocations)
    if (data) return [part, data]
  }
  throw new TrustError('REVOCATION_LIST_FULL', 'the list of revoked certificates is full', {
    hints: [
      'to make room, run "trustadm certificate unrevoke" for certificates whose users have no rights any more',
      'to end all certificates of a CA at once, replace the CA',
    ],
  })
}

/** Removes entries from the list, in all of its parts. */
export async function removeFromList(client: Client, ids: ReadonlySet<string>): Promise<void> {
  for (let attempt = 0; attempt < MOST_CONFLICTS; attempt += 1) {
    const parts = await readList(client)
    const concerned = parts.filter(({revocations}) => revocations.some(({id}) => ids.has(id)))
    if (concerned.length === 0) return
    for (const part of concerned) {
      const kept = Object.entries(part.object?.data ?? {}).filter(([id]) => !ids.has(id))
      await write(client, part, Object.fromEntries(kept))
    }
  }
  throw busy()
}
