import {
  keyRevocation,
  type ReadRevocations,
  type Revocation,
  type RevocationId,
} from './revocations.ts'

/** The revoked certificates in memory. Each ConfigMap of the list is replaced as a whole. */
export class RevocationList {
  readonly #byObject = new Map<string, ReadonlyMap<string, Revocation>>()

  /** Returns whether it revokes something that the ConfigMap did not revoke before. */
  set(object: string, {revocations}: Pick<ReadRevocations, 'revocations'>): boolean {
    const before = this.#byObject.get(object)
    const entries = new Map<string, Revocation>()
    for (const revocation of revocations) {
      entries.set(revocation.id, revocation)
      const {fingerprint} = revocation
      if (fingerprint !== undefined) entries.set(byFingerprint(fingerprint), revocation)
    }
    if (entries.size === 0) this.#byObject.delete(object)
    else this.#byObject.set(object, entries)
    return revocations.some(({id}) => !before?.has(id))
  }

  delete(object: string): void {
    this.#byObject.delete(object)
  }

  /** The first of these that is on the list. */
  find(ids: readonly RevocationId[]): Revocation | undefined {
    return this.#first(ids)
  }

  findKey(pin: string): Revocation | undefined {
    return this.#first([keyRevocation(pin)])
  }

  /** The entry that was made for the certificate with this fingerprint. */
  findFingerprint(fingerprint: string | undefined): Revocation | undefined {
    return fingerprint === undefined ? undefined : this.#first([byFingerprint(fingerprint)])
  }

  /** Every request with a certificate comes here: an empty list costs nothing. */
  #first(keys: readonly string[]): Revocation | undefined {
    for (const entries of this.#byObject.values()) {
      for (const key of keys) {
        const found = entries.get(key)
        if (found !== undefined) return found
      }
    }
    return undefined
  }
}

const byFingerprint = (fingerprint: string): string => `fingerprint.${fingerprint}`
