import {generateKeys} from '../../pki/keys.ts'
import type {SubjectNames} from '../../pki/subject-names.ts'
import type {Clock} from '../../runtime.ts'
import type {BootstrapCredential} from '../bootstrap-credential.ts'
import {CertificateManager} from '../certificate-manager/certificate-manager.ts'
import type {NodeConnection} from '../certificate-manager/connection.ts'
import type {Pair} from '../certificate-manager/pair.ts'
import {obtainClient} from '../certificate-manager/obtain-client.ts'
import {requestCertificate} from '../certificate-manager/request-certificate.ts'
import type {ServerClock} from '../certificate-manager/server-clock.ts'
import type {RotationWindow} from '../certificate-manager/rotation-deadline.ts'
import {clientCertificate} from '../client-certificate.ts'
import {headWitness} from '../head-witness.ts'
import type {AgentMetrics} from './agent-metrics.ts'
import type {AgentRecord} from './agent-state.ts'
import {ManagedCertificate} from './managed-certificate.ts'
import {clientStore, servingStore, type NodeHome} from './node-home.ts'
import {servingCertificate} from './serving-names.ts'

/** How certificates are renewed. */
export interface RenewalOptions {
  home: NodeHome
  window: RotationWindow
  /** How long certificates should be valid; without it the signer chooses. */
  seconds?: number | undefined
  /** Milliseconds to wait for a serving certificate; by default as long as the kubelet. */
  servingPatience?: number | undefined
  /** Over how many milliseconds renewals for a new CA are spread; by default some seconds. */
  issuerSpread?: number | undefined
  clock: Clock
  random: () => number
  log: (line: string) => void
}

interface Shared {
  connection: () => NodeConnection
  serverClock: ServerClock
  record: AgentRecord
  metrics: AgentMetrics
}

const durationOf = ({seconds}: RenewalOptions) => (seconds === undefined ? {} : {seconds})

/** The certificate with which the node talks to its cluster. */
export function manageClient(
  options: RenewalOptions & {
    /** False: it is only loaded. */
    rotatesClient: boolean
    /** What to authenticate with once it has expired. */
    bootstrap: () => Promise<BootstrapCredential | undefined>
    /** The pair of a kubeconfig, which is used while it is newer than the stored one. */
    given?: Pair | undefined
  },
  {connection, serverClock, record, metrics}: Shared,
): ManagedCertificate {
  const {home, clock, window, random, log, bootstrap, given, rotatesClient} = options
  const managed: ManagedCertificate = new ManagedCertificate({
    kind: 'client',
    manager: new CertificateManager({
      store: clientStore(home),
      wanted: () => ({...clientCertificate(home.nodeName), ...durationOf(options)}),
      obtain: obtainClient({
        connection,
        bootstrap,
        self: home,
        clock: serverClock,
        witness: headWitness(home.dir),
        onPending: (csr) => managed.onPending(csr),
      }),
      issuer: () => connection().info.issuers?.client,
      issuerSpread: options.issuerSpread,
      given,
      replaced: home.given,
      clock,
      serverClock,
      early: record.state.client.early,
      window,
      random,
    }),
    record,
    clock,
    log,
    isRenewed: rotatesClient,
    ca: () => connection().info.ca,
    onRotated: (age) => metrics.rotated('client', age),
  })
  return managed
}

/** The certificate with which a kubelet serves. `names` are those of the Node, once they are known. */
export function manageServing(
  options: RenewalOptions,
  {connection, serverClock, record, metrics}: Shared,
  names: () => SubjectNames | undefined,
): ManagedCertificate {
  const {home, clock, window, random, log} = options
  const wanted = () => {
    const known = names()
    return known && {...servingCertificate(home.nodeName, known), ...durationOf(options)}
  }
  const managed: ManagedCertificate = new ManagedCertificate({
    kind: 'serving',
    manager: new CertificateManager({
      store: servingStore(home),
      wanted,
      obtain: async (asked, current, signal) => {
        const keys = await generateKeys()
        const events = {onPending: managed.onPending, witness: headWitness(home.dir)}
        const patience = options.servingPatience
        return await connection().use((client) =>
          requestCertificate(client, asked, keys, {
            clock: serverClock,
            current,
            patience,
            signal,
            ...events,
          }),
        )
      },
      issuer: () => connection().info.issuers?.serving,
      issuerSpread: options.issuerSpread,
      clock,
      serverClock,
      early: record.state.serving.early,
      window,
      random,
    }),
    record,
    clock,
    log,
    isRenewed: true,
    ca: () => connection().info.ca,
    onRotated: (age) => metrics.rotated('serving', age),
  })
  return managed
}
