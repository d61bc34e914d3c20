import {elsewhere, TrustError} from '../../errors.ts'
import {parseCertificate} from '../../pki/certificate.ts'
import {describeCertificate, type KnownCertificate} from './known-certificates.ts'

/** Whoever is in one of these groups can do everything. */
const ADMINISTRATORS = ['system:masters', 'kubeadm:cluster-admins']
/** The users of the control plane's own kubeconfigs. */
const CONTROL_PLANE = ['system:kube-controller-manager', 'system:kube-scheduler']

export interface Protection {
  /** The certificate that the caller authenticates with, as PEM. */
  own?: string | undefined
  /** The certificates of the control plane on this machine, as PEM. */
  controlPlane?: readonly string[]
}

export const isSame = (one: KnownCertificate, other: KnownCertificate): boolean =>
  (one.pin !== undefined && one.pin === other.pin) ||
  (one.serial !== undefined && one.serial === other.serial && one.issuer === other.issuer)

function reasonFor(certificate: KnownCertificate, {own, controlPlane = []}: Protection) {
  const {user = '', groups = []} = certificate
  const isAmong = (pems: readonly string[]) =>
    pems.some((pem) => isSame(certificate, describeCertificate(parseCertificate(pem))))
  if (own !== undefined && isAmong([own])) return 'you authenticate with it'
  if (isAmong(controlPlane) || CONTROL_PLANE.includes(user)) return 'the control plane uses it'
  const group = groups.find((one) => ADMINISTRATORS.includes(one))
  return group === undefined ? undefined : `it is an administrator's (${group})`
}

/** Refuses to revoke what a cluster or its operator needs, so that a slip locks nobody out. */
export function requireUnprotected(
  certificates: readonly KnownCertificate[],
  protection: Protection,
): void {
  for (const certificate of certificates) {
    const reason = reasonFor(certificate, protection)
    if (reason === undefined) continue
    const {user, serial} = certificate
    const what = user ? `the certificate of "${user}"` : `the key`
    throw new TrustError('REVOCATION_PROTECTED', `${what} was not revoked: ${reason}`, {
      hints: [
        elsewhere(
          'to revoke it anyway, use --force; on the machine of the control plane, "trustadm certificate renew" then makes new certificates that work',
        ),
      ],
      facts: {user, serial},
    })
  }
}
