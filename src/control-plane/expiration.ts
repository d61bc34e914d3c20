import type {Clock} from '../runtime.ts'
import {inspectCatalog, type Inspection} from '../pki/inspect.ts'
import {openStore, ownCatalog} from './certificates.ts'
import {certDirOf, type Plane} from './config/plane.ts'
import {readLastRotation, type LastRotation} from './last-rotation.ts'

/** One certificate, as `check-expiration` and `status` show it. */
export interface CertificateReport {
  name: string
  location: string
  expirationDate: string | null
  /** Whole seconds; negative once it has expired. */
  residualSeconds: number | null
  /** Whether it is valid at this time; null if there is none. */
  current: boolean | null
  /** Of its key and the certificate's serial number; null if there is none. */
  pin: string | null
  serial: string | null
  externallyManaged: boolean
  problems: string[]
  /** What will become a problem: a CA that ends within a year. */
  warnings: string[]
}

interface AuthorityReport extends CertificateReport {
  /** Whether it signs. The others in the same file are only trusted, as during a rotation. */
  signs: boolean
}

interface LeafReport extends CertificateReport {
  certificateAuthority: string
  /** The name of the CA that has signed it, which tells generations apart; absent if there is no certificate. */
  issuer?: string
}

export interface ExpirationReport {
  certificates: LeafReport[]
  /** A file may have several. */
  certificateAuthorities: AuthorityReport[]
  /** Absent if the CAs were never rotated. */
  rotation?: LastRotation
}

const allOf = ({certificates, certificateAuthorities}: ExpirationReport): CertificateReport[] => [
  ...certificates,
  ...certificateAuthorities,
]

/** Whether a certificate has expired, or is not valid yet. */
export const isOutOfDate = (report: ExpirationReport): boolean =>
  allOf(report).some(({current}) => current === false)

/** The certificates that end within this many milliseconds, the first to end first. */
export const endingWithin = (report: ExpirationReport, milliseconds: number): CertificateReport[] =>
  allOf(report)
    .filter(({residualSeconds}) => (residualSeconds ?? Infinity) * 1000 < milliseconds)
    .sort((one, other) => (one.residualSeconds ?? 0) - (other.residualSeconds ?? 0))

function toReport(inspection: Inspection): CertificateReport {
  const {id, location, expires, residual, current, externallyManaged} = inspection
  return {
    name: id,
    location,
    expirationDate: expires?.toISOString() ?? null,
    residualSeconds: residual === undefined ? null : Math.floor(residual / 1000),
    current: current ?? null,
    pin: inspection.pin ?? null,
    serial: inspection.serial ?? null,
    externallyManaged,
    problems: inspection.problems,
    warnings: inspection.warnings,
  }
}

/** Every certificate of the control plane with its expiry date, as `kubeadm certs check-expiration`. */
export async function checkExpiration(plane: Plane, clock: Clock): Promise<ExpirationReport> {
  const sources = {certDir: certDirOf(plane), openStore: openStore(plane)}
  const inspections = await inspectCatalog(await ownCatalog(plane), sources, clock)
  const rotation = await readLastRotation(plane)
  return {...(rotation && {rotation}), ...reportOf(inspections)}
}

export const reportOf = (inspections: readonly Inspection[]): ExpirationReport => ({
  certificates: inspections
    .filter(({kind}) => kind === 'leaf')
    .map((one) => ({
      ...toReport(one),
      certificateAuthority: one.authority ?? '',
      ...(one.issuer !== undefined && {issuer: one.issuer}),
    })),
  certificateAuthorities: inspections
    .filter(({kind}) => kind === 'authority')
    .map((one) => ({...toReport(one), signs: one.signs ?? false})),
})
