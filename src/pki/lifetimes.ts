import {TrustError} from '../errors.ts'

const MINUTE = 60_000
const HOUR = 60 * MINUTE
const DAY = 24 * HOUR

/** How far certificates are backdated, for machines whose clock is slow. */
export const BACKDATE = 5 * MINUTE
/** From this lifetime on, the backdating is subtracted from the end, so that the total is as requested. */
const SHORT_LIVED = 8 * HOUR

/** kubeadm's defaults: ten years for a CA, one for what it signs. */
export const AUTHORITY_LIFETIME = 3650 * DAY
export const LEAF_LIFETIME = 365 * DAY

export interface Validity {
  notBefore: Date
  notAfter: Date
}

/** Backdated for slow node clocks; never outlives the CA. As PermissiveSigningPolicy. */
export function validityFor(now: Date, ttl: number, caNotAfter: Date): Validity {
  if (now >= caNotAfter) throw new TrustError('SIGNER_EXPIRED', 'the CA has expired')
  const end = now.getTime() + (ttl < SHORT_LIVED ? ttl : ttl - BACKDATE)
  return {
    notBefore: new Date(now.getTime() - BACKDATE),
    notAfter: new Date(Math.min(end, caNotAfter.getTime())),
  }
}

/** The validity of a self-signed certificate, which no CA above limits. */
export function authorityValidity(now: Date, lifetime: number): Validity {
  return {
    notBefore: new Date(now.getTime() - BACKDATE),
    notAfter: new Date(now.getTime() + lifetime - BACKDATE),
  }
}
