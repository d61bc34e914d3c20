import type {ApiClient} from '../client/api-client.ts'
import {BOOTSTRAPPER, BOOTSTRAPPER_NAMESPACE} from '../csr/bootstrapper.ts'
import {MACHINE_APPROVER} from '../csr/approvers.ts'
import {isUnknown} from '../csr/opinion.ts'
import type {Clock} from '../runtime.ts'
import type {Live} from '../trust/live.ts'
import {currentNames} from './approval/client-opinion.ts'
import {readLiveness, type IsLive} from './approval/live-credential.ts'
import {isBootstrappers, machineSituation, type MachineSources} from './approval/machine-facts.ts'
import {BootstrapperRequests, MachinesByName} from './approval/machine-indexes.ts'
import {
  STOPPED,
  machineOpinion,
  mostPending,
  type MachineFacts,
} from './approval/machine-opinion.ts'
import {canonicalDns, machineOwner} from './approval/address-book.ts'
import {machinesWhereServed} from './approval/optional-apis.ts'
import {RevokedCertificates, type RevocationSource} from './approval/revoked-certificates.ts'
import {ClientApproval, type Judge} from './client-approval.ts'
import type {ControllerSpec, Meter} from './kernel/controller.ts'
import {EventReporter} from './kernel/events.ts'
import type {SignersByName} from './signing/decide.ts'

export interface MachineApproverOptions {
  clock: Clock
  /** Those of this process. */
  signers?: Live<SignersByName> | undefined
  revocations?: RevocationSource | undefined
  log?: ((line: string) => void) | undefined
  meter?: Meter | undefined
}

const COMPONENT = 'machine-approver'
/** A held request depends on Nodes, records and time too, which are not watched. */
const LONGEST_WAIT = 30_000

type Pending = MachineFacts['pending']

const isStopped = ({count, most}: Pending): boolean => count > most

/** Reports by log and Event when too many requests wait, and when that is over. */
function stopReporter(
  writer: Pick<ApiClient, 'events'>,
  {clock, log = () => undefined}: MachineApproverOptions,
): (pending: Pending, signal: AbortSignal) => Promise<void> {
  const events = new EventReporter(writer, COMPONENT, clock)
  const account = {
    apiVersion: 'v1',
    kind: 'ServiceAccount',
    namespace: BOOTSTRAPPER_NAMESPACE,
    name: BOOTSTRAPPER,
  }
  let wasStopped = false
  return async (pending, signal) => {
    if (isStopped(pending) === wasStopped) return
    wasStopped = isStopped(pending)
    if (!wasStopped) return log(`${COMPONENT}: approves again`)
    const message = `more than ${pending.most} requests of the last hour are undecided: nothing is approved until they are`
    log(`error: ${COMPONENT}: stopped: ${message}`)
    await events.report(account, {type: 'Warning', reason: STOPPED, message}, {signal})
  }
}

function judgeByInventory(
  requests: BootstrapperRequests,
  machines: MachinesByName,
  writer: Pick<ApiClient, 'nodes' | 'events' | 'configMaps' | 'secrets'>,
  options: MachineApproverOptions,
): {judge: Judge; pending: () => Pending} {
  const {clock} = options
  const report = stopReporter(writer, options)
  const anybody: IsLive = () => true
  let counted = anybody
  const pendingOf = (isLive: IsLive): Pending => ({
    count: requests.recent.count(clock.now(), isLive),
    most: mostPending(machines.size),
  })
  /** Whose they are matters only if too many wait: a join costs no look at the credentials. */
  const currentPending = async (signal: AbortSignal): Promise<Pending> => {
    counted = isStopped(pendingOf(anybody)) ? await readLiveness(writer, {signal}) : anybody
    return pendingOf(counted)
  }
  const sourcesOf = (signal: AbortSignal): MachineSources => ({
    names: currentNames(writer, {signal}),
    liveness: () => readLiveness(writer, {signal}),
    machinesNamed: (dns) => machines.named(dns),
    requestsFor: () => Promise.resolve(requests.index),
  })
  const judge: Judge = async (request, {signal}) => {
    const {csr, requested} = request
    if (!isBootstrappers(csr)) return {decision: 'ignore'}
    const now = clock.now()
    const waiting = await currentPending(signal)
    await report(waiting, signal)
    const situation = isStopped(waiting)
      ? {unknown: 'it was not checked'}
      : await machineSituation(request, sourcesOf(signal), now)
    const opinion = machineOpinion(csr, requested, {now, pending: waiting, situation})
    const {decision, reason} = opinion
    if (decision === 'approve' && !isUnknown(situation)) {
      const {message} = MACHINE_APPROVER
      return {decision, message, name: {record: situation.claims.record, now}}
    }
    if (decision === 'ignore') return {decision}
    // One Event says that it has stopped; one for each request would be a flood too.
    return {decision: 'hold', reports: reason === STOPPED ? [] : [opinion]}
  }
  return {judge, pending: () => pendingOf(counted)}
}

/** OpenShift's names: alerts on them exist. */
function publish(meter: Meter, pending: () => Pending): void {
  const gauge = (name: string, help: string, value: () => number) =>
    meter.measured({name, help}, 'gauge', () => [{labels: [], value: value()}])
  gauge(
    'mapi_current_pending_csr',
    'Undecided certificate requests of the node-bootstrapper in the last hour',
    () => pending().count,
  )
  gauge(
    'mapi_max_pending_csr',
    'Above this many undecided requests the machine-approver stops',
    () => pending().most,
  )
}

/** Approves the first certificates of machines that the inventory expects: see `machineOpinion`. */
export function machineApproverController(
  reader: ApiClient,
  writer: ApiClient,
  options: MachineApproverOptions,
): ControllerSpec {
  const {clock, signers, revocations, log, meter} = options
  const requests = new BootstrapperRequests(reader.csrs)
  const revoked = revocations && new RevokedCertificates(revocations, () => requests.recent.names())
  let isSaid = false
  const served = machinesWhereServed(reader, () => {
    if (!isSaid) log?.(`${COMPONENT}: off, because the cluster does not serve Machines`)
    isSaid = true
  })
  const machines = new MachinesByName(served, (dns) => requests.index.openFor(dns))
  const {judge, pending} = judgeByInventory(requests, machines, writer, options)
  if (meter) publish(meter, pending)
  const approving = new ClientApproval({
    component: COMPONENT,
    judge,
    requests: requests.index,
    findRecord: (node) => currentNames(writer, {}).findRecord(node),
    writer,
    clock,
    signers,
    revoked,
    // A Machine with several names is good for one node.
    async turnOf(node) {
      const [machine] = await machines.named(canonicalDns(node))
      return machine ? `Machine ${machineOwner(machine).name}` : node
    },
    longestWait: LONGEST_WAIT,
  })
  return {
    name: COMPONENT,
    sources: [requests, machines, ...(revoked ? [revoked] : [])],
    reconcile: approving.reconcile,
    backoff: {first: 200, most: LONGEST_WAIT},
    workers: 16,
  }
}
