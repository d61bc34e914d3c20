import {formatName} from '../../pki/distinguished-name.ts'
import {lockHolder} from '../../fs/folder-lock.ts'
import {type Clock, formatTimestamp} from '../../runtime.ts'
import {
  DEFAULT_WINDOW,
  drawFor,
  parseRotationWindow,
  rotationDeadline,
  validityAt,
  type RotationWindow,
  type Validity,
} from '../certificate-manager/rotation-deadline.ts'
import type {CredentialStore, StoredCredential} from '../credential-store.ts'
import {nodeFile} from '../node-files.ts'
import {readAgentState, type CertificateState, type Failure} from './agent-state.ts'
import {clientStore, openNodeHome, servingStore} from './node-home.ts'

export interface CertificateStatus {
  name: 'client' | 'serving'
  /** The link to the certificate and its key. */
  file: string
  state: Validity
  serial: string
  issuer: string
  notBefore: string
  notAfter: string
  /** Whole seconds until it expires; negative once it has. */
  residualSeconds: number
  /** When it is due to be renewed. */
  deadline: string
  /** Whether that time has passed. */
  isDue: boolean
  lastRenewal: string | null
  lastAttempt: string | null
  lastError: Failure | null
  /** The request that waits for a decision. */
  pendingRequest: string | null
}

export interface NodeStatus {
  nodeName: string
  dir: string
  /** The process that keeps the folder, usually `node run`; null if none does. */
  agent: {pid: number | null} | null
  certificates: CertificateStatus[]
  clusterInfo: {
    server: string
    endpoints: string[]
    caCertHashes: string[]
    readAt: string | null
    ageSeconds: number | null
    lastError: Failure | null
  }
}

/** How the node of this machine is doing, from its files alone. */
export async function readNodeStatus(
  dir: string,
  certDir: string | undefined,
  clock: Clock,
): Promise<NodeStatus> {
  const home = await openNodeHome(dir, certDir)
  const state = await readAgentState(dir)
  const window = windowOf(state.rotateAt)
  const now = clock.now()
  const client = await statusOf('client', clientStore(home), state.client, window, now)
  const serving = await statusOf('serving', servingStore(home), state.serving, window, now)
  const holder = await lockHolder(nodeFile(dir, 'lock'))
  const {readAt, error} = state.clusterInfo
  return {
    nodeName: home.nodeName,
    dir,
    agent: holder ? {pid: holder.pid ?? null} : null,
    certificates: [...client, ...serving],
    clusterInfo: {
      server: home.info.server,
      endpoints: home.info.endpoints,
      caCertHashes: home.info.pins,
      readAt: readAt ?? null,
      ageSeconds: readAt === undefined ? null : secondsBetween(new Date(readAt), now),
      lastError: error ?? null,
    },
  }
}

/** Whether somebody has to act: a certificate is due or has expired, or is not valid yet, because the clock is wrong. */
export const isOverdue = ({certificates}: NodeStatus): boolean =>
  certificates.some(({isDue, state}) => isDue || state === 'not yet valid')

async function statusOf(
  name: CertificateStatus['name'],
  store: CredentialStore,
  state: CertificateState,
  window: RotationWindow,
  now: Date,
): Promise<CertificateStatus[]> {
  const stored = await store.read()
  if (!stored) return []
  return [{name, file: store.current, ...validityOf(stored, window, now), ...attemptsOf(state)}]
}

function validityOf({certificate}: StoredCredential, window: RotationWindow, now: Date) {
  const {serial, issuer, notBefore, notAfter} = certificate
  const deadline = rotationDeadline(certificate, window, drawFor(certificate))
  return {
    state: validityAt(certificate, now),
    serial,
    issuer: formatName(issuer),
    notBefore: formatTimestamp(notBefore),
    notAfter: formatTimestamp(notAfter),
    residualSeconds: secondsBetween(now, notAfter),
    deadline: formatTimestamp(deadline),
    isDue: deadline <= now,
  }
}

const attemptsOf = ({lastRenewal, lastAttempt, error, pendingRequest}: CertificateState) => ({
  lastRenewal: lastRenewal ?? null,
  lastAttempt: lastAttempt ?? null,
  lastError: error ?? null,
  pendingRequest: pendingRequest ?? null,
})

const secondsBetween = (from: Date, to: Date): number =>
  Math.floor((to.getTime() - from.getTime()) / 1000)

function windowOf(text: string | undefined): RotationWindow {
  try {
    return text === undefined ? DEFAULT_WINDOW : parseRotationWindow(text, 'rotateAt')
  } catch {
    return DEFAULT_WINDOW
  }
}
