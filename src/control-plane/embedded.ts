import type {ApiClient} from '../client/api-client.ts'
import {signerTurn} from '../controllers/signing/log-turns.ts'
import type {Offers} from '../controllers/csr-signer.ts'
import {startControllers, switchedOff} from '../controllers/index.ts'
import {untilCarriedOver} from '../controllers/own-namespace.ts'
import {messageOf} from '../errors.ts'
import {parseCertificate} from '../pki/certificate.ts'
import {ensureFolder} from '../fs/folders.ts'
import type {Clock} from '../runtime.ts'
import {aggregate} from '../server/authz/rbac/aggregation.ts'
import {startServer} from '../server/server.ts'
import {Reloadable, select} from '../trust/live.ts'
import {openLmdbStorage} from '../storage/lmdb.ts'
import type {Storage} from '../storage/storage.ts'
import {addressOf, auditOf, fileOf, memoryOf, type Plane} from './config/plane.ts'
import {etcdOf} from './config/etcd.ts'
import {serviceRange} from './config/fields.ts'
import {READER, SERVER, clientOf, writerFor} from './in-process-clients.ts'
import {ISSUED_PATH, issuedClientsReader} from './issued-clients.ts'
import {followKubeconfigs} from './kubeconfig-bundles.ts'
import {SIGNERS_LEASE, startAfter, startAsLeader} from './leading.ts'
import {offerSnapshots} from './offer-snapshots.ts'
import {planeCommand} from './plane-command.ts'
import {identityOf, openPlaneEtcd} from './plane-storage.ts'
import {planeStateReader} from './plane-state.ts'
import {meterHeads, meteredLog, watchExpirations} from './plane-metrics.ts'
import {digestsOf} from './server-digests.ts'
import {recordSeenList} from './seen-lists.ts'
import {leaseNameOf, startIdentity} from './server-identity.ts'
import {reportTrust} from './server-report.ts'
import type {ServingChoices} from './serving-policy.ts'
import {nodeIssuersOf, shortcomingsOf, signingOf, type SigningSettings} from './signing.ts'
import {watchValidity} from './validity.ts'
import {WatchedLog} from './watched-log.ts'

/** The store, the server and the controllers in this process. */
export interface EmbeddedPlane {
  port: number
  /** Switches to the keys and certificates on the disk: to all of them or, if one cannot be used, to none. */
  reload(): Promise<void>
  /** As the server itself, in this process. */
  client: ApiClient
  /** Keeps the CAs in the kubeconfigs up to date from now on: nobody has to wait for that. */
  followKubeconfigs(): void
  /** Fulfilled with the reason if the objects were moved to another store: this server must not go on. */
  moved: Promise<{reason: unknown}>
  /** Waits so long for requests in flight; nothing acknowledged is lost. */
  close(graceMilliseconds: number): Promise<void>
}

export interface EmbeddedOptions {
  clock: Clock
  /** The server's log. */
  log: (line: string) => void
  signing?: SigningSettings | undefined
  /** The flags about kubelets' serving certificates. */
  serving?: ServingChoices | undefined
  /** Which controllers run; without it, all. */
  controllers?: readonly string[] | undefined
  /** Called with the store before anything is served from it; returns whether it has changed files of the control plane. */
  beforeServing?: (storage: Storage) => Promise<boolean>
  /** Why this server does not follow a rotation of another machine, if it does not. */
  rotationProblem?: () => string | undefined
  /** What nobody waits for begins then, so that it does not keep the start waiting; absent: at once. */
  begin?: Promise<void> | undefined
}

/** A server that does not follow works with the CAs that it has: it is shown, and stays ready. */
const rotationCheck = (problem: () => string | undefined) => ({
  name: 'ca-rotation',
  isAdvisory: true,
  check: () => {
    const found = problem()
    if (found !== undefined) throw new Error(found)
  },
})

export async function startEmbedded(
  plane: Plane,
  {
    clock,
    log,
    signing: flags,
    serving,
    controllers: chosen,
    beforeServing,
    rotationProblem,
    begin = Promise.resolve(),
  }: EmbeddedOptions,
): Promise<EmbeddedPlane> {
  const {settings} = plane
  const signing = signingOf(plane, flags)
  const readState = planeStateReader(plane, {signing, serving, log})
  const trust = await Reloadable.open(readState, (error) => log(`error: ${messageOf(error)}`))
  const validity = watchValidity(plane, trust, {clock, log})
  for (const folder of ['logs', 'lock', 'issuanceLock'] as const) {
    await ensureFolder(fileOf(plane, folder))
  }
  const signs = chosen?.includes('csr-signer') ?? true
  const watched = new WatchedLog({
    path: fileOf(plane, 'issuances'),
    keyPath: fileOf(plane, 'issuanceKey'),
    takeTurn: () => signerTurn(fileOf(plane, 'issuanceLock')),
    check: planeCommand(plane.dir, 'certificate log --verify'),
    server: settings.nodeName,
    clock,
    log,
  })
  const {issuances} = watched
  let onMoved: (reason: unknown) => void = () => undefined
  const moved = new Promise<{reason: unknown}>((resolve) => {
    onMoved = (reason) => resolve({reason})
  })
  const storage =
    (await openPlaneEtcd(plane, log, onMoved)) ?? (await openLmdbStorage(plane.dir, log))
  // Signing is retried; a server that cannot sign is still useful.
  const logChecked = (signs ? issuances.check() : Promise.resolve()).catch((error: unknown) => {
    log(`error: nothing is signed until the issuance log can be written: ${messageOf(error)}`)
  })
  const leaveSnapshots = await offerSnapshots(plane, storage, {clock, log})
  try {
    if (await beforeServing?.(storage)) await trust.reload()
    const server = await startServer({
      storage,
      host: settings.bindAddress,
      port: settings.bindPort,
      advertiseAddress: settings.advertiseAddress,
      trust,
      tokenIssuer: `https://kubernetes.default.svc.${settings.dnsDomain}`,
      serviceRange: serviceRange(settings.serviceSubnet),
      seenClientsFile: fileOf(plane, 'seenClients'),
      documents: {[ISSUED_PATH]: issuedClientsReader(plane, clock, log)},
      clock,
      audit: auditOf(plane),
      memoryAge: {bound: settings.storeTimeout},
      limits: {
        quotaBytes: settings.quotaBackendBytes,
        memory: memoryOf(plane),
        certificateRequestsPerHour: settings.certificateRequestsPerHour,
      },
      readiness: [
        {name: 'certificates', check: validity.check},
        ...(signs ? [{name: 'issuance-log', check: () => issuances.check()}] : []),
        ...(rotationProblem ? [rotationCheck(rotationProblem)] : []),
      ],
      onError: (message, error) => log(`error: ${message}: ${messageOf(error)}`),
    })
    const serverCertificate = () => parseCertificate(trust.current.serving.certificate).der
    const own = clientOf(server.handler, SERVER, serverCertificate)
    // Its newest line is part of the Lease.
    await logChecked
    // First: the store writes the Lease while the controllers read what they watch.
    const identity = startIdentity(own, {
      identity: identityOf(plane),
      report: () => ({
        digests: digestsOf(trust.current.settings, trust.current, switchedOff(chosen)),
        cache: server.cache(),
        issuanceLog: watched.state,
        generation: trust.current.rotated,
        rotationProblem: rotationProblem?.(),
        address: addressOf(plane, server.port),
      }),
      clock,
      onError: (error) => log(`error: cannot renew the Lease of this server: ${messageOf(error)}`),
    })
    const rootCa = select(trust, ({bundles}) => bundles['api-server'].pem)
    const leaveExpirations = watchExpirations(plane, trust, server.metrics, {
      clock,
      begin,
      onError: (error) => log(`error: the certificates cannot be read: ${messageOf(error)}`),
    })
    const metered = meteredLog(issuances, server.metrics)
    meterHeads(watched.alarm, server.metrics)
    const reader = clientOf(server.handler, READER, serverCertificate)
    const onError = (controller: string, key: string, error: unknown) =>
      log(`error: ${controller} ${key}: ${messageOf(error)}`)
    const offers: Offers = new Map()
    const start = (leads?: () => boolean) => {
      watched.takeOver()
      return startControllers({
        reader,
        writer: (controller) => clientOf(server.handler, writerFor(controller), serverCertificate),
        rootCa,
        issuers: select(trust, nodeIssuersOf),
        kubeletServingCa: select(trust, ({bundles}) => bundles['kubelet-serving']?.pem),
        tokenKeyId: select(trust, ({tokenKeys}) => tokenKeys.signing.id),
        aggregate,
        ownership: server.ownership,
        sharesStore: etcdOf(settings) !== undefined,
        controllers: chosen,
        serving: () => trust.current.servingPolicy,
        signing: {
          signers: select(trust, ({signers}) => signers),
          issuances: metered,
          // The server in this process has already done that.
          checksSignatures: false,
          leads,
          offers,
        },
        clock,
        log,
        begin,
        meter: server.metrics,
        onError,
      })
    }
    // One that runs none must not keep the Lease from those that run some.
    const controllers = startAfter(
      (signal) => untilCarriedOver(own, {log, signal}),
      () =>
        etcdOf(settings) && chosen?.length !== 0
          ? startAsLeader(start, {
              client: own,
              name: 'controllers',
              lease: SIGNERS_LEASE,
              identity: identityOf(plane),
              clock,
              shared: watched.heads,
              log,
            })
          : start(),
    )
    const witness = signs ? watched.startWitness(reader, onError, begin) : undefined
    const leaveTrust = trust.subscribe(() => identity.refresh())
    await controllers.synced
    await identity.shown
    if (signs) {
      for (const line of shortcomingsOf(plane, trust.current)) log(`error: ${line}`)
    }
    let leaveKubeconfigs = () => Promise.resolve()
    const takeBackReport = reportTrust(own, settings.nodeName, trust, {
      clock,
      begin,
      onError: (error) => log(`error: cannot report the CAs in use: ${messageOf(error)}`),
    })
    const leaveSeenList = etcdOf(settings)
      ? recordSeenList(own, {
          name: leaseNameOf(identityOf(plane)),
          host: settings.nodeName,
          clock,
          onError: (error) => log(`error: cannot record the list of clients: ${messageOf(error)}`),
        })
      : () => Promise.resolve()
    return {
      port: server.port,
      reload: () => trust.reload(),
      client: own,
      moved,
      followKubeconfigs() {
        leaveKubeconfigs = followKubeconfigs(plane, rootCa, log)
      },
      async close(graceMilliseconds) {
        validity.stop()
        leaveExpirations()
        await leaveKubeconfigs()
        leaveTrust()
        await Promise.all([takeBackReport(), leaveSeenList(), identity.stop()])
        await Promise.all([controllers.close(), witness?.close()])
        await issuances.close()
        await server.close(graceMilliseconds)
        await leaveSnapshots()
        await storage.close()
      },
    }
  } catch (error) {
    validity.stop()
    // The folder belongs to the caller again: nothing may write to it after this.
    await logChecked
    await issuances.close()
    await leaveSnapshots()
    await storage.close()
    throw error
  }
}
