import type {Clock} from '../runtime.ts'
import {inspectCatalog, type Inspection} from '../pki/inspect.ts'
import {CATALOG, openStore} from './certificates.ts'
import {certDirOf, type Plane} from './config/plane.ts'

/** One certificate, as `check-expiration` and `status` show it. */
export interface CertificateReport {
  name: string
  location: string
  expirationDate: string | null
  /** Whole seconds; negative once it has expired. */
  residualSeconds: number | null
  /** Whether it is valid at this time; null if there is none. */
  current: boolean | null
  externallyManaged: boolean
  problems: string[]
}

interface LeafReport extends CertificateReport {
  certificateAuthority: string
}

export interface ExpirationReport {
  certificates: LeafReport[]
  certificateAuthorities: CertificateReport[]
}

/** Whether a certificate has expired, or is not valid yet. */
export const isOutOfDate = ({certificates, certificateAuthorities}: ExpirationReport): boolean =>
  [...certificates, ...certificateAuthorities].some(({current}) => current === false)

function toReport(inspection: Inspection): CertificateReport {
  const {id, location, expires, residual, current, externallyManaged, problems} = inspection
  return {
    name: id,
    location,
    expirationDate: expires?.toISOString() ?? null,
    residualSeconds: residual === undefined ? null : Math.floor(residual / 1000),
    current: current ?? null,
    externallyManaged,
    problems,
  }
}

/** Every certificate of the control plane with its expiry date, as `kubeadm certs check-expiration`. */
export async function checkExpiration(plane: Plane, clock: Clock): Promise<ExpirationReport> {
  const sources = {certDir: certDirOf(plane), openStore: openStore(plane)}
  const inspections = await inspectCatalog(CATALOG, sources, clock)
  return {
    certificates: inspections
      .filter(({kind}) => kind === 'leaf')
      .map((one) => ({...toReport(one), certificateAuthority: one.authority ?? ''})),
    certificateAuthorities: inspections.filter(({kind}) => kind === 'authority').map(toReport),
  }
}
