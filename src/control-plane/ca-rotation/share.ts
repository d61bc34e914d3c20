import type {Secret} from '../../api/core.ts'
import type {ApiClient} from '../../client/api-client.ts'
import {hasCode, TrustError} from '../../errors.ts'
import {etcdOf} from '../config/etcd.ts'
import type {Plane} from '../config/plane.ts'
import {ensurePlaneKey} from '../plane-key.ts'
import type {Journal} from './journal.ts'
import {generationIn, ROTATION_SECRET, sealRotation} from './sealed-rotation.ts'
import {readShared} from './shared-files.ts'

type Client = Pick<ApiClient, 'namespaces' | 'secrets'>

/** Whether other machines may have a server of this control plane: only an etcd can be shared. Also if they are off at the moment. */
export const isShared = ({settings}: Pick<Plane, 'settings'>): boolean =>
  etcdOf(settings) !== undefined

const ATTEMPTS = 5

/** Throws if this machine has not followed what another one has shared: it would undo that. */
export async function requireFollowed(
  {secrets}: Pick<Client, 'secrets'>,
  journal: Pick<Journal, 'shared'> | undefined,
): Promise<Secret | undefined> {
  const found = await secrets.find(ROTATION_SECRET)
  if (generationIn(found) <= (journal?.shared ?? 0)) return found
  throw new TrustError(
    'CONFLICT',
    'another machine of the control plane rotates the CAs at the moment, and this one has not followed it yet',
    {
      hints: [
        'see how far it is with "trustadm ca rotate status", then run the command again on one machine only',
        'if it does not follow, the log of its server says why',
      ],
    },
  )
}

/**
 * Hands the state of the rotation, with its CAs and keys, to the other servers. Returns the journal with the number of that, for the
 * caller to write; the caller holds the lock. Of two machines that do so at the same time, one gets an error.
 */
export async function share(client: Client, plane: Plane, journal: Journal): Promise<Journal> {
  const key = await ensurePlaneKey(plane)
  const {uid: cluster = ''} = (await client.namespaces.get(ROTATION_SECRET.namespace)).metadata
  for (let attempt = 1; ; attempt += 1) {
    const found = await requireFollowed(client, journal)
    const next = {...journal, shared: (journal.shared ?? 0) + 1}
    const secret = sealRotation(await readShared(plane, next), {key, cluster})
    try {
      // With the version that was found: what another machine has written in the meantime is not overwritten.
      if (found) await client.secrets.update({...secret, metadata: found.metadata})
      else await client.secrets.create(secret)
      return next
    } catch (error) {
      if (attempt === ATTEMPTS || !hasCode(error, 'CONFLICT', 'ALREADY_EXISTS')) throw error
    }
  }
}
