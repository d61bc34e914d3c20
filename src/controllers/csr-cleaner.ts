import type {CertificateSigningRequest} from '../api/certificates.ts'
import type {ApiClient} from '../client/api-client.ts'
import {APPROVED, DENIED, FAILED, findCondition, isIssued} from '../csr/conditions.ts'
import {hasCode} from '../errors.ts'
import {parseCertificate} from '../pki/certificate.ts'
import type {Clock} from '../runtime.ts'
import {atTheStart, type ControllerSpec} from './kernel/controller.ts'
import {slices} from './kernel/costly-work.ts'
import type {Reconcile} from './kernel/work-queue.ts'

type Csr = CertificateSigningRequest

const HOUR = 3_600_000
/** How long a decided request is kept. */
const DECIDED = HOUR
/** How long a request waits for an approver or a signer. */
const WAITING = 24 * HOUR
/** A request as last seen: only this version is deleted. */
interface Seen {
  name: string
  uid: string | undefined
  resourceVersion: string | undefined
}

/** Concurrent writes share a commit. */
const AT_ONCE = 16

/** A missing timestamp never counts as expired. */
const isOlder = (time: string | null | undefined, age: number, now: Date): boolean =>
  time ? now.getTime() - Date.parse(time) > age : false

function hasExpired({status}: Csr, now: Date): boolean {
  try {
    const pem = Buffer.from(status?.certificate ?? '', 'base64').toString('latin1')
    return parseCertificate(pem).notAfter < now
  } catch {
    return false
  }
}

/** Whether a request is no longer needed, by the rules of Kubernetes' csrcleaner. */
export function isDone(csr: Csr, now: Date): boolean {
  const {metadata, status} = csr
  const since = (type: string) => findCondition(csr, type)?.lastUpdateTime
  if (isOlder(since(DENIED), DECIDED, now) || isOlder(since(FAILED), DECIDED, now)) return true
  if ((status?.conditions ?? []).length === 0) {
    return isOlder(metadata.creationTimestamp, WAITING, now)
  }
  if (!findCondition(csr, APPROVED)) return false
  return isIssued(csr)
    ? isOlder(since(APPROVED), DECIDED, now) || hasExpired(csr, now)
    : isOlder(since(APPROVED), WAITING, now)
}

/** Kubernetes' csrcleaner: deletes requests some time after their outcome. */
export function cleanRequests(
  reader: Pick<ApiClient, 'csrs'>,
  writer: Pick<ApiClient, 'csrs'>,
  clock: Clock,
): Reconcile {
  async function remove(key: Seen, signal: AbortSignal): Promise<void> {
    const {name, uid, resourceVersion} = key
    try {
      await writer.csrs.delete(name, {uid, resourceVersion, signal})
    } catch (error) {
      // Deleted or changed in the meantime: the next pass checks it again.
      if (!hasCode(error, 'NOT_FOUND', 'CONFLICT')) throw error
    }
  }

  return async (_key, signal) => {
    const now = clock.now()
    const pause = slices(signal)
    const done = new Map<string, Seen>()
    const onPage = async (items: Csr[]) => {
      for (const csr of items) {
        await pause()
        const {name = '', uid, resourceVersion} = csr.metadata
        if (isDone(csr, now)) done.set(name, {name, uid, resourceVersion})
      }
    }
    const {items} = await reader.csrs.list({signal, onPage})
    await onPage(items)
    const all = [...done.values()]
    for (let start = 0; start < all.length; start += AT_ONCE) {
      await Promise.all(all.slice(start, start + AT_ONCE).map((one) => remove(one, signal)))
    }
    return {requeueAfter: HOUR}
  }
}

export const csrCleanerController = (
  reader: ApiClient,
  writer: ApiClient,
  clock: Clock,
): ControllerSpec => ({
  name: 'csr-cleaner',
  sources: [atTheStart],
  reconcile: cleanRequests(reader, writer, clock),
})
