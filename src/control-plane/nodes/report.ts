import type {Node} from '../../api/node.ts'
import type {NodeRecord} from '../../controllers/approval/node-record.ts'
import {shellWord} from '../../client/printable.ts'
import {trustReportOf, type ReportedCertificate, type TrustReport} from '../../node/trust-report.ts'
import {isAccepted, type ClientAuthorities} from './client-authorities.ts'
import type {KnownCertificate} from '../revocation/known-certificates.ts'
import {formatTimestamp} from '../../runtime.ts'

/** The certificate of a node, and who says so. */
interface NodeCertificate {
  /** Null if only the record of the name is known. */
  serial: string | null
  issuer: string | null
  notBefore: string | null
  notAfter: string
  /** `node`: its own report. `issued`: the issuance log or a request. `record`: the approver's record of the name. */
  source: 'node' | 'issued' | 'record'
}

/** What can be wrong with a node, the worst first. */
const NODE_PROBLEMS = [
  'revoked',
  'taken-over',
  'expired',
  'locked-out',
  'not-yet-valid',
  'ca-not-trusted',
  'renewal-overdue',
  'newer-certificate',
  'request-waits',
  'not-ready',
  'unknown',
] as const

export interface NodeProblem {
  code: (typeof NODE_PROBLEMS)[number]
  message: string
}

/** A node, as `node list` shows it. */
export interface NodeReport {
  name: string
  registered: string | null
  certificate: NodeCertificate | null
  /** Null if the node reports none. */
  serving: NodeCertificate | null
  /** The pins of the CAs that the node accepts; null if it does not report. */
  trusts: string[] | null
  /** When its certificate was last replaced: when that was issued, not from when on it is valid. Null if it never was, or if that is not known. */
  lastRenewal: string | null
  /** The worst first. */
  problems: NodeProblem[]
}

/** What is known about one node. */
export interface NodeFacts {
  node: Node
  /** The newest client certificate that was issued to it, when, and how many were. */
  issued?: {newest: KnownCertificate; at?: Date | undefined; count: number} | undefined
  record?: NodeRecord | undefined
  /** Requests of the node that nobody has decided on. */
  waiting: readonly string[]
  /** The last issued request for its name that it did not make itself, and when; only on servers that are not trustadm's. */
  taken?: {request: string; requester: string; at: string} | undefined
  /** Why its key is revoked; undefined if it is not. */
  revoked?: string | undefined
}

export interface ReportContext {
  now: Date
  /** The pins of the CAs that clients know the API server by; empty if they are not known. */
  authorities: readonly string[]
  /** Undefined if they are not known. */
  clientAuthorities?: ClientAuthorities | undefined
  /** Completes a command for this cluster. */
  commandFor: (command: string) => string
}

/** A node renews after 70 to 90 % of the lifetime. */
const OVERDUE = 0.9
/** Certificates are backdated, and clocks differ. */
const SLACK = 3_600_000

const reported = (one: ReportedCertificate): NodeCertificate => ({
  serial: one.serial,
  issuer: one.issuer,
  notBefore: one.notBefore,
  notAfter: one.notAfter,
  source: 'node',
})

/** What was issued to it after the certificate that it reports: a kubelet may have renewed it, which reports nothing. */
function issuedLater(
  {issued}: NodeFacts,
  report: TrustReport,
): (KnownCertificate & {notBefore: Date}) | undefined {
  const {newest} = issued ?? {}
  if (!newest?.notBefore || !newest.notAfter || newest.serial === report.client.serial) return
  const {notBefore} = newest
  return notBefore.getTime() > Date.parse(report.client.notBefore)
    ? {...newest, notBefore}
    : undefined
}

function certificateOf(facts: NodeFacts, report: TrustReport | undefined): NodeCertificate | null {
  if (report && !issuedLater(facts, report)) return reported(report.client)
  const {issued, record} = facts
  const {serial, issuer, notBefore, notAfter} = issued?.newest ?? {}
  if (notAfter) {
    return {
      serial: serial ?? null,
      issuer: issuer ?? null,
      notBefore: notBefore ? formatTimestamp(notBefore) : null,
      notAfter: formatTimestamp(notAfter),
      source: 'issued',
    }
  }
  if (!record?.until || record.holder === undefined) return null
  return {
    serial: null,
    issuer: record.issuer ?? null,
    notBefore: record.issuedAt ? formatTimestamp(record.issuedAt) : null,
    notAfter: formatTimestamp(record.until),
    source: 'record',
  }
}

function timeProblem(
  {notBefore, notAfter}: NodeCertificate,
  what: string,
  now: Date,
): NodeProblem | undefined {
  const [time, end] = [now.getTime(), Date.parse(notAfter)]
  if (end <= time) return {code: 'expired', message: `${what} expired on ${notAfter}`}
  if (notBefore === null) return undefined
  const start = Date.parse(notBefore)
  if (start > time) {
    return {
      code: 'not-yet-valid',
      message: `${what} is not valid before ${notBefore}: check the clocks`,
    }
  }
  return time > start + OVERDUE * (end - start)
    ? {
        code: 'renewal-overdue',
        message: `${what} should have been renewed: is "node run" or a kubelet running?`,
      }
    : undefined
}

function trustProblem(
  report: TrustReport | undefined,
  authorities: readonly string[],
): NodeProblem | undefined {
  const missing = report
    ? authorities.filter((pin) => !report.trusts.some((one) => one === pin))
    : []
  if (missing.length === 0) return undefined
  return {code: 'ca-not-trusted', message: `does not trust the CA ${missing.join(', ')}`}
}

/** It can never tell the cluster that it is back: somebody has to let it join again. */
function lockedOutProblem(
  {node, issued}: NodeFacts,
  report: TrustReport | undefined,
  {clientAuthorities, commandFor}: ReportContext,
): NodeProblem | undefined {
  if (!clientAuthorities) return undefined
  const newest = issued?.newest
  // Of its own certificate a node says more than the issuance log.
  const isSame = report !== undefined && report.client.serial === newest?.serial
  const known = [report?.client, isSame ? undefined : newest]
    .filter((one) => one !== undefined)
    .map((one) => isAccepted(clientAuthorities, one))
  if (known.length === 0 || known.some((one) => one !== false)) return undefined
  const name = shellWord(node.metadata.name ?? '')
  return {
    code: 'locked-out',
    message: `its certificate is of a CA that the cluster no longer accepts, so the machine must join again: run "trustadm node leave" on it, then there the line that "${commandFor('token create --print-join-command')}" prints, with --node-name ${name}`,
  }
}

/** Without a record no approver has checked who has the name, as on a cluster where kube-controller-manager approves. */
function takenProblem(
  {node: {metadata}, taken, record}: NodeFacts,
  {commandFor}: ReportContext,
): NodeProblem | undefined {
  const {name = '', creationTimestamp: registered} = metadata
  if (!taken || record || !registered || taken.at <= registered) return undefined
  const history = commandFor(`node history ${shellWord(name)}`)
  return problem(
    'taken-over',
    `${taken.requester} got a certificate for its name at ${taken.at}, when the Node was there already (request ${taken.request}): the machine joined again, or another one took its name; see "${history}"`,
  )
}

/** Its kubelet may have got it, or somebody else. */
function newerProblem(
  facts: NodeFacts,
  report: TrustReport | undefined,
  now: Date,
): NodeProblem | undefined {
  const newer = report && issuedLater(facts, report)
  if (!report || !newer) return undefined
  const {notBefore, notAfter, serial} = report.client
  if (newer.notBefore.getTime() <= Date.parse(notBefore) + SLACK) return undefined
  const isOver = Date.parse(notAfter) <= now.getTime()
  // Alive with a certificate that has expired: it uses the newer one.
  if (isOver && readyOf(facts)?.status === 'True') return undefined
  return {
    code: 'newer-certificate',
    message: `certificate ${newer.serial ?? ''} was issued for it later, but it still reports ${serial}, which ${isOver ? 'expired on' : 'is valid until'} ${notAfter}: its kubelet has renewed it and "node run" is not running, or another machine has got it`,
  }
}

const readyOf = ({node}: NodeFacts) => node.status?.conditions?.find(({type}) => type === 'Ready')

function readyProblem(facts: NodeFacts): NodeProblem | undefined {
  const ready = readyOf(facts)
  if (!ready || ready.status === 'True') return undefined
  return {code: 'not-ready', message: ready.message ?? 'the kubelet is not ready'}
}

function lastRenewalOf(facts: NodeFacts, report: TrustReport | undefined): string | null {
  const {at, count = 0} = facts.issued ?? {}
  const issuedAt = at ? formatTimestamp(at) : undefined
  if (report && issuedLater(facts, report)) return issuedAt ?? report.lastRenewal ?? null
  return report?.lastRenewal ?? (count > 1 ? (issuedAt ?? null) : null)
}

const problem = (code: NodeProblem['code'], message: string): NodeProblem => ({code, message})

/** Everything about one node. */
export function reportOn(facts: NodeFacts, context: ReportContext): NodeReport {
  const {now, authorities} = context
  const {node, waiting, revoked} = facts
  const report = trustReportOf(node)
  const certificate = certificateOf(facts, report)
  const serving = report?.serving ? reported(report.serving) : null
  const lockedOut = lockedOutProblem(facts, report, context)
  const found = [
    revoked === undefined ? undefined : problem('revoked', `its certificate is revoked${revoked}`),
    takenProblem(facts, context),
    certificate ? timeProblem(certificate, 'its certificate', now) : undefined,
    serving ? timeProblem(serving, 'its serving certificate', now) : undefined,
    // That explains what it does not trust, and why it is not ready.
    lockedOut ?? trustProblem(report, authorities),
    newerProblem(facts, report, now),
    waiting.length > 0
      ? problem('request-waits', `a request waits for approval: ${waiting.slice(0, 3).join(', ')}`)
      : undefined,
    lockedOut ? undefined : readyProblem(facts),
    certificate ? undefined : problem('unknown', 'nothing is known about its certificate'),
  ].filter((one) => one !== undefined)
  return {
    name: node.metadata.name ?? '',
    registered: node.metadata.creationTimestamp ?? null,
    certificate,
    serving,
    trusts: report ? [...report.trusts] : null,
    lastRenewal: lastRenewalOf(facts, report),
    problems: found.sort((one, other) => rank(one.code) - rank(other.code)),
  }
}

const rank = (code: NodeProblem['code'] | undefined): number =>
  code === undefined ? NODE_PROBLEMS.length : NODE_PROBLEMS.indexOf(code)

/** The worst first, then those whose certificate expires first. */
export function byUrgency(one: NodeReport, other: NodeReport): number {
  const worst = rank(one.problems[0]?.code) - rank(other.problems[0]?.code)
  if (worst !== 0) return worst
  const [end, otherEnd] = [one, other].map(({certificate}) => certificate?.notAfter ?? '')
  if (end !== otherEnd) return (end ?? '') < (otherEnd ?? '') ? -1 : 1
  return one.name < other.name ? -1 : 1
}
