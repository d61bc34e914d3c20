import {NodeConnection} from '../certificate-manager/connection.ts'
import type {BootstrapCredential} from '../bootstrap-credential.ts'
import type {Pair} from '../certificate-manager/pair.ts'
import {formatRotationWindow} from '../certificate-manager/rotation-deadline.ts'
import {clockAhead, ServerClock} from '../certificate-manager/server-clock.ts'
import {AgentMetrics} from './agent-metrics.ts'
import {AgentRecord} from './agent-state.ts'
import {Announcer, restartKubelet} from './announcer.ts'
import {Wait} from '../failures.ts'
import {readNodeRecord} from '../node-files.ts'
import {ClusterTrust, refreshAfter} from './cluster-trust.ts'
import {Troubles, type Duty} from './duties.ts'
import {manageClient, manageServing, type RenewalOptions} from './manage.ts'
import type {ManagedCertificate} from './managed-certificate.ts'
import {agentStatus, formatAnswer} from './node-status.ts'
import {NodeReports, trustReport} from './node-reports.ts'
import {renewalRequests} from './renewal-request.ts'

export interface AgentOptions extends RenewalOptions {
  /** Whether the client certificate is renewed, or only loaded. */
  rotatesClient: boolean
  /** Whether to keep a serving certificate too. */
  serving: boolean
  /** What to authenticate with once the certificate has expired. */
  bootstrap: () => Promise<BootstrapCredential | undefined>
  /** The node's own pair in a kubeconfig, which is used while it is newer than the stored one. */
  given?: Pair | undefined
  /** For the shell. */
  onChange?: string | undefined
  /** Whether this only renews: the next `node run` announces the change, and its window stays the one that is shown. */
  onlyRenews?: boolean | undefined
  /** For how many milliseconds nothing may change before the kubelet is restarted. */
  settling?: number | undefined
}

export interface NodeAgent {
  /** What it has to do, most urgent first. */
  duties: Duty[]
  metrics: AgentMetrics
  /** The certificates that it keeps valid. */
  managed: readonly ManagedCertificate[]
  /** What it tells who asks. */
  answer(): string
  /** Renews all certificates, whether they are due or not. */
  renew(signal: AbortSignal): Promise<void>
  /** Its connection to the cluster, which follows its certificate. */
  connection: NodeConnection
  /** Looks at everything again, whatever the last failure asked to wait for. */
  lookAgain(): void
  close(): Promise<void>
}

/** All that keeps one node a member of its cluster. */
export async function openAgent(options: AgentOptions): Promise<NodeAgent> {
  const {home, clock, random, log, onlyRenews = false} = options
  const troubles = new Troubles(log)
  const record = await AgentRecord.open(home.dir, (error) =>
    troubles.failed('writing the state of the agent', error),
  )
  const metrics = new AgentMetrics(clock)
  const serverClock = new ServerClock(clock, (lead) => {
    log(
      lead
        ? `warning: ${clockAhead(lead.seconds * 1000)}`
        : "the clock of this machine is no longer ahead of the server's",
    )
    void record.change((state) => ({...state, clock: lead}))
  })
  if (record.state.clock) serverClock.restore(record.state.clock)
  const shared = {connection: () => connection, serverClock, record, metrics}
  const client = manageClient(options, shared)
  await client.load()
  const connection = await NodeConnection.open(home.info, client.manager.live, home, serverClock)
  const trust = new ClusterTrust({home, connection, record, clock, random, log})
  const reports: NodeReports = new NodeReports({
    nodeName: home.nodeName,
    connection,
    clock,
    random,
    report: () => {
      const {current} = client.manager
      // A kubelet trusts only what it has read when it started.
      if (!current || (home.isKubelets && announcer.isBehind)) return undefined
      return trustReport({
        info: trust.home.info,
        client: current,
        serving: serving?.manager.current,
        lastRenewal: record.state.client.lastRenewal,
      })
    },
  })
  connection.onLost = () => reports.lookSoon()
  /** A kubelet may serve under other names than its Node has: its next certificate is for the same ones. */
  const presentNames = () =>
    home.isKubelets ? serving?.manager.current?.certificate.names : undefined
  const serving: ManagedCertificate | undefined = options.serving
    ? manageServing(options, shared, () => presentNames() ?? reports.names)
    : undefined
  await serving?.load()
  const announcer: Announcer = new Announcer({
    command: options.onChange ?? (home.isKubelets ? restartKubelet(log) : undefined),
    settling: home.isKubelets ? options.settling : undefined,
    home: () => trust.home,
    client: () => client.manager.current,
    serving: () => serving?.manager.current,
    record,
    clock,
    random,
    log,
  })
  await trust.restoreFiles(client.manager.current)
  const announces = !onlyRenews || home.isKubelets || options.onChange !== undefined
  if (announces) await announcer.begin()
  if (!onlyRenews) {
    await record.change((state) => ({...state, rotateAt: formatRotationWindow(options.window)}))
  }
  metrics.watch({client: client.manager, serving: serving?.manager, record})

  const managed = serving ? [client, serving] : [client]
  const folder: Duty = {
    name: 'looking at the folder of the node',
    nextAt: () => clock.now(),
    work: async () => {
      for (const one of managed) {
        // A kubelet knows the certificates that it has got itself.
        if ((await one.load()) && home.isKubelets) await announcer.skip(one.kind)
      }
    },
  }
  const recordWait = new Wait(clock)
  const files: Duty = {
    name: 'reading the record of the files of the node',
    nextAt: () => recordWait.until,
    work: async () => {
      recordWait.start(refreshAfter(random))
      await readNodeRecord(home.dir)
    },
  }
  /** Once the pair that was in it has been replaced: until then it shows that this pair is to be renewed. */
  const kubeconfig: Duty = {
    name: 'writing kubelet.conf',
    nextAt: () => (trust.isGivenReplacedBy(client.manager.current) ? clock.now() : undefined),
    work: () => trust.restoreFiles(client.manager.current),
  }
  const renew = async (signal: AbortSignal) => {
    if (serving) await reports.namesDuty.work(signal)
    for (const one of managed) await one.renew(signal)
  }
  return {
    duties: [
      folder,
      ...managed.map(({clockDuty}) => clockDuty),
      client.duty,
      kubeconfig,
      trust.duty,
      ...(serving ? [reports.namesDuty, serving.duty] : []),
      renewalRequests(home.dir, async (signal) => {
        if (serving) await reports.namesDuty.work(signal)
        await client.renew(signal)
        await serving?.renewUntilPending(signal)
      }),
      ...(announces ? [announcer.duty] : []),
      reports.reportDuty,
      files,
    ],
    metrics,
    managed,
    answer() {
      const {window} = options
      const status = {home: trust.home, managed, record, serverClock, window, clock}
      return formatAnswer(agentStatus(status), record)
    },
    renew,
    connection,
    lookAgain() {
      for (const {manager} of managed) manager.retryNow()
      trust.refreshNow()
      reports.lookNow()
      announcer.retryNow()
    },
    async close() {
      await connection.close()
      await record.settled()
    },
  }
}
