import {dirname, resolve} from 'node:path'
import type {Certificate} from '../../pki/certificate.ts'
import {formatName} from '../../pki/distinguished-name.ts'
import {lockHolder} from '../../fs/folder-lock.ts'
import {type Clock, formatTimestamp} from '../../runtime.ts'
import {
  drawFor,
  parseRotationWindow,
  rotationDeadline,
  validityAt,
  type RotationWindow,
  type Validity,
} from '../certificate-manager/rotation-deadline.ts'
import type {ClockLead, ServerClock} from '../certificate-manager/server-clock.ts'
import type {StoredCredential} from '../credential-store.ts'
import {nodeFile} from '../node-files.ts'
import {
  readAgentState,
  type AgentRecord,
  type AgentState,
  type CertificateState,
  type Failure,
} from './agent-state.ts'
import type {ManagedCertificate} from './managed-certificate.ts'
import {clientStore, defaultWindow, openNodeHome, servingStore, type NodeHome} from './node-home.ts'

export interface CertificateStatus {
  name: 'client' | 'serving'
  /** The link to the certificate and its key; the file itself if the link is missing, or kubelet.conf if it is there. */
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
  /** Whether that time has passed, by the clock of this machine. */
  isDue: boolean
  /** When the agent tries next; null if only the files were read, or if it does not know yet what to ask for. */
  nextAttempt: string | null
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
  /** Who says so: that process, or the files of the node if it does not answer. */
  source: 'agent' | 'files'
  /** How far the clock of this machine was ahead of the server's when it last answered; null if not notably. */
  clock: {aheadSeconds: number; at: string} | null
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

interface Held {
  home: NodeHome
  managed: readonly ManagedCertificate[]
  record: Pick<AgentRecord, 'state'>
  serverClock: Pick<ServerClock, 'lead'>
  window: RotationWindow
  clock: Clock
}

/** How the node of this machine is doing, from the memory of its agent: a full disk does not make that older. */
export function agentStatus({home, managed, record, serverClock, window, clock}: Held): NodeStatus {
  const now = clock.now()
  const certificates = managed.flatMap(({kind, manager}) => {
    const {certificate} = manager.current ?? {}
    if (!certificate) return []
    const store = kind === 'client' ? clientStore(home) : servingStore(home)
    const own = rotationDeadline(certificate, window, drawFor(certificate))
    const {deadline = own, nextAttempt} = manager
    return [
      {
        name: kind,
        file: store.current,
        // For at once it says the epoch.
        ...validityOf(certificate, deadline < certificate.notBefore ? now : deadline, now),
        nextAttempt: nextAttempt ? formatTimestamp(nextAttempt > now ? nextAttempt : now) : null,
        ...attemptsOf(record.state[kind]),
      },
    ]
  })
  const agent = {pid: process.pid}
  const rest = restOf(home, record.state, now)
  return {...rest, agent, source: 'agent', clock: clockOf(serverClock.lead), certificates}
}

/** What an agent answers. Its form changes with a new number: one of another release is still running after an upgrade. */
const FORM = 1

interface Answer {
  status: NodeStatus
  state: AgentState
}

export const formatAnswer = (status: NodeStatus, {state}: Pick<AgentRecord, 'state'>): string =>
  JSON.stringify({form: FORM, status, state} satisfies Answer & {form: number})

function readAnswer(text: string | undefined): Answer | undefined {
  try {
    const {form, status, state} = JSON.parse(text ?? '{}') as Partial<Answer & {form: number}>
    return form === FORM && status && state ? {status, state} : undefined
  } catch {
    return undefined
  }
}

/** For an agent on a busy machine. */
const PATIENCE = 5000

/** Who holds the folder, and what it answers if it is an agent. */
async function askAgent(dir: string) {
  const holder = await lockHolder(nodeFile(dir, 'lock'), PATIENCE)
  return {holder, answer: readAnswer(holder?.answer)}
}

/** What the agent has done: as it says itself, or else as it last wrote it. */
export const currentState = async (dir: string): Promise<AgentState> =>
  (await askAgent(dir)).answer?.state ?? (await readAgentState(dir))

/** How the node of this machine is doing: from its running agent, or else from its files alone. */
export async function readNodeStatus(
  dir: string,
  certDir: string | undefined,
  clock: Clock,
): Promise<NodeStatus> {
  const {holder, answer} = await askAgent(dir)
  const agent = holder ? {pid: holder.pid ?? null} : null
  if (answer && isOfFolder(answer.status, certDir)) return {...answer.status, agent}

  const home = await openNodeHome(dir, certDir, clock)
  const state = await readAgentState(dir)
  const window = windowOf(state.rotateAt) ?? defaultWindow(home)
  const now = clock.now()
  const {client: held} = home
  const file = held.from === 'link' ? clientStore(home).current : held.file
  const client = statusOf('client', held, file, state.client, window, now)
  const store = servingStore(home)
  const stored = await store.read()
  const serving = stored
    ? [statusOf('serving', stored, store.current, state.serving, window, now)]
    : []
  const lead = state.clock && new Date(state.clock.at) <= now ? state.clock : undefined
  return {
    ...restOf(home, state, now),
    agent,
    source: 'files',
    clock: clockOf(lead),
    certificates: [client, ...serving],
  }
}

/** Whether the agent keeps its certificates where somebody looks for them. */
const isOfFolder = ({certificates}: NodeStatus, certDir: string | undefined): boolean =>
  certDir === undefined || certificates.every(({file}) => dirname(file) === resolve(certDir))

const clockOf = (lead: ClockLead | undefined): NodeStatus['clock'] =>
  lead ? {aheadSeconds: lead.seconds, at: lead.at} : null

function restOf({nodeName, dir, info}: NodeHome, {clusterInfo}: AgentState, now: Date) {
  const {readAt, error} = clusterInfo
  return {
    nodeName,
    dir,
    clusterInfo: {
      server: info.server,
      endpoints: info.endpoints,
      caCertHashes: info.pins,
      readAt: readAt ?? null,
      ageSeconds: readAt === undefined ? null : secondsBetween(new Date(readAt), now),
      lastError: error ?? null,
    },
  }
}

/** Whether somebody has to act: a certificate is due or has expired, or is not valid yet, because the clock is wrong. */
export const isOverdue = ({certificates}: NodeStatus): boolean =>
  certificates.some(({isDue, state}) => isDue || state === 'not yet valid')

const statusOf = (
  name: CertificateStatus['name'],
  {certificate}: Pick<StoredCredential, 'certificate'>,
  file: string,
  state: CertificateState,
  window: RotationWindow,
  now: Date,
): CertificateStatus => {
  const deadline = rotationDeadline(certificate, window, drawFor(certificate))
  const validity = validityOf(certificate, deadline, now)
  return {name, file, ...validity, nextAttempt: null, ...attemptsOf(state)}
}

function validityOf(certificate: Certificate, deadline: Date, now: Date) {
  const {serial, issuer, notBefore, notAfter} = certificate
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

function windowOf(text: string | undefined): RotationWindow | undefined {
  try {
    return text === undefined ? undefined : parseRotationWindow(text, 'rotateAt')
  } catch {
    return undefined
  }
}
