import type {CertificateSigningRequest} from '../api/certificates.ts'
import type {PendingRequests} from './admission/pending-requests.ts'
import type {Registry} from './registry/registry.ts'
import {parse, type StoredObject} from './registry/stored-object.ts'

/** Keeps the count of pending certificate requests in step with what is stored, commit by commit. */
export function feedPendingRequests(registry: Registry, pending: PendingRequests): void {
  const store = registry.store('certificates.k8s.io', 'certificatesigningrequests')
  if (store === undefined) return
  const set = (stored: StoredObject) =>
    pending.set(stored.name, parse(stored) as CertificateSigningRequest)
  for (const stored of store.range('')) set(stored)
  store.onEvents((events) => {
    for (const {current, previous} of events) {
      if (current !== undefined) set(current)
      else if (previous !== undefined) pending.delete(previous.name)
    }
  })
}
