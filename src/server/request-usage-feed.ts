import type {CertificateSigningRequest} from '../api/certificates.ts'
import type {RequestUsage} from './admission/request-usage.ts'
import type {Registry} from './registry/registry.ts'
import {parse, type StoredObject} from './registry/stored-object.ts'

/** Keeps the counts of certificate requests in step with what is stored, commit by commit. */
export function feedRequestUsage(registry: Registry, usage: RequestUsage): void {
  const store = registry.store('certificates.k8s.io', 'certificatesigningrequests')
  if (store === undefined) return
  const set = (stored: StoredObject) =>
    usage.set(stored.name, parse(stored) as CertificateSigningRequest, stored.json.length)
  for (const stored of store.range('')) set(stored)
  store.onEvents((events) => {
    for (const {current, previous} of events) {
      if (current !== undefined) set(current)
      else if (previous !== undefined) usage.delete(previous.name)
    }
  })
}
