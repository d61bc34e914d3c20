import type {CertificateSigningRequest} from '../api/certificates.ts'
import type {ApiClient} from '../client/api-client.ts'
import {type Patience, timeLeft} from '../client/patience.ts'
import type {SharedConnections} from '../client/shared-connections.ts'
import {isUndecided} from '../csr/conditions.ts'
import {withWitnessed} from '../csr/log-head.ts'
import {credentialOf} from '../csr/user-extra.ts'
import type {TrustedClusterInfo} from '../discovery/cluster-info.ts'
import {requireRequested} from '../enrollment/check.ts'
import {issuedPem, nameOf} from '../enrollment/outcome.ts'
import {
  discardPendingKey,
  ensurePendingKey,
  readPendingKey,
  type PendingKey,
} from '../enrollment/pending-key.ts'
import {pendingNote} from '../enrollment/pending-note.ts'
import {submitRequest, type SubmittedRequest} from '../enrollment/request.ts'
import {waitForCertificate} from '../enrollment/wait.ts'
import {hasCode, TrustError} from '../errors.ts'
import {ensureFolder} from '../fs/folders.ts'
import {parseCertificate} from '../pki/certificate.ts'
import {
  isPairOf,
  type KeyPair,
  parsePrivateKey,
  privateKeyPem,
  publicHalf,
  publicKeyDer,
} from '../pki/keys.ts'
import {pinOf} from '../pki/pins.ts'
import type {Clock} from '../runtime.ts'
import {readCaller, requireAccepted} from './acceptance.ts'
import type {BootstrapCredential} from './bootstrap-credential.ts'
import {pendingKeyIn} from './cert-dir.ts'
import {clientCertificate, clientRequest, isOwnCertificate} from './client-certificate.ts'
import {withCredential} from './cluster-access.ts'
import type {CredentialStore} from './credential-store.ts'
import type {HeadWitness} from './head-witness.ts'
import {requireNameFree} from './node-object.ts'

/** A key that the cluster already knows as this node's. */
interface LastKey {
  keys: KeyPair
  pem: string
  /** The serial number of its certificate, which is no longer valid. */
  serial: string
}

/**
 * The key of the node's last certificate, once that is no longer valid. A request with this key is approved at once, while one with
 * a new key would have to wait for an operator: the name belongs to the old key. Undefined if a request with it was refused, and a
 * new key is waiting for its turn.
 */
async function findLastKey(
  store: CredentialStore,
  {nodeName, isRefused = false}: Pick<FirstCertificateOptions, 'nodeName' | 'isRefused'>,
  now: Date,
): Promise<LastKey | undefined> {
  const last = await store.read()
  if (!last || !isOwnCertificate(last.certificate, nodeName)) return undefined
  const {certificate, keyPem} = last
  if (!isRefused && certificate.notBefore <= now && certificate.notAfter > now) return undefined
  const privateKey = parsePrivateKey(keyPem)
  const keys = {privateKey, publicKey: publicHalf(privateKey)}
  const pending = await readPendingKey(pendingKeyIn(store.folder))
  if (pending && !isPairOf(pending.keys.privateKey, keys.publicKey)) return undefined
  return {keys, pem: privateKeyPem(privateKey), serial: certificate.serial}
}

interface FirstCertificateOptions {
  nodeName: string
  info: TrustedClusterInfo
  credential: BootstrapCredential
  store: CredentialStore
  /** Whether the cluster refuses the stored certificate, though it has not expired. */
  isRefused?: boolean | undefined
  clock: Clock
  freshKeys: () => Promise<KeyPair>
  /** Prints a line about what was done. */
  tell: (line: string) => void
  /** Prints what it is waiting for. */
  note: (line: string) => void
  connections?: SharedConnections | undefined
  /** Keeps what the node sees of the issuance log. */
  witness: HeadWitness
  /** How long to wait for the cluster. */
  patience: Patience
  /** How many milliseconds to wait for the certificate, unless the whole command has a deadline. */
  timeout?: number | undefined
}

/** As long as kubeadm waits. */
const LONGEST_WAIT = 300_000
/** With the same key, the next run would find the same request and fail again. */
const FINAL = ['CERTIFICATE_DENIED', 'CERTIFICATE_FAILED', 'CERTIFICATE_INVALID'] as const

const ASK_AGAIN = ['then run the command again: it sends a request with a new key']

const pendingKeyOf = ({store}: FirstCertificateOptions): string => pendingKeyIn(store.folder)

const pendingKey = (options: FirstCertificateOptions): Promise<PendingKey> =>
  ensurePendingKey(pendingKeyOf(options), options.freshKeys, options.store.record?.note)

/**
 * Gets a certificate for a node that has none, or whose last one has expired, and stores it. The caller holds the lock of the node's
 * folder. Returns the file.
 */
export async function getFirstCertificate(options: FirstCertificateOptions): Promise<string> {
  const {nodeName, info, credential, store, clock, connections, patience} = options
  const last = await findLastKey(store, options, clock.now())
  try {
    const {keys, head, ...pair} = await withCredential(
      info,
      credential,
      (client, _server, signal, answered) => obtain(options, client, last, {signal, answered}),
      {shared: connections, patience},
    )
    const wanted = clientCertificate(nodeName)
    const chain = requireRequested(pair.certificatePem, wanted, keys, clock.now())
    await requireAccepted(info, chain, pair, clock.now(), patience)
    const file = await store.update(pair.certificatePem, pair.keyPem, clock.now())
    await options.witness.keep(head)
    await discardPendingKey(pendingKeyOf(options))
    return file
  } catch (error) {
    const isRefused = hasCode(error, ...FINAL)
    if (isRefused || (hasCode(error, 'CERTIFICATE_REQUEST_DELETED') && !last)) {
      await discardPendingKey(pendingKeyOf(options))
    }
    // The next run must not ask with the refused key again.
    if (isRefused && last) await pendingKey(options)
    throw error
  }
}

async function obtain(
  options: FirstCertificateOptions,
  client: ApiClient,
  last: LastKey | undefined,
  {signal, answered}: {signal: AbortSignal | undefined; answered: (() => void) | undefined},
) {
  const {nodeName, info, patience, timeout = LONGEST_WAIT, note} = options
  // A Node stays Ready for a while after its machine was switched off: with its own key, this is that machine.
  const existing = last ? undefined : await requireNameFree(client, nodeName, signal)
  const {csr, keys, pem: keyPem} = await ask(options, client, last, signal)
  answered?.()
  const pin = pinOf({publicKeyDer: publicKeyDer(keys.publicKey)})
  const allow = `trustadm certificate allow-rejoin ${nodeName} --pin ${pin}`
  const {pem: certificatePem, head} = await waitForCertificate(client, csr, {
    timeout: timeLeft(patience) ?? timeout,
    onPending: () =>
      void pendingNote(csr, {ca: info.ca, taken: existing && {node: nodeName, allow}}).then(note),
    onTrouble: ({message}) => note(`waiting for the cluster: ${message}`),
    hints: {
      CERTIFICATE_DENIED: ASK_AGAIN,
      CERTIFICATE_FAILED: ASK_AGAIN,
      CERTIFICATE_PENDING: [
        ...(existing ? [`or let this machine take over the name with "${allow}"`] : []),
        'then run this command again: it resumes',
      ],
    },
  }).catch((error: unknown) => {
    throw hasCode(error, 'UNAUTHORIZED') ? whileWaiting(error, csr) : error
  })
  return {keys, keyPem, certificatePem, head}
}

/** The cluster accepted the credential when it took the request. */
const whileWaiting = (cause: TrustError, csr: CertificateSigningRequest): TrustError =>
  new TrustError('UNAUTHORIZED', cause.message, {
    cause,
    hints: cause.hints,
    facts: {...cause.facts, request: nameOf(csr)},
  })

/** Asks for the certificate. If an earlier request led to one that has expired, asks with another key. */
async function ask(
  options: FirstCertificateOptions,
  client: ApiClient,
  last: LastKey | undefined,
  signal: AbortSignal | undefined,
) {
  const {nodeName, store, clock, tell, witness} = options
  await ensureFolder(store.folder)
  if (last) tell('the last certificate is no longer valid: requesting a new one with the same key')
  let key: Omit<LastKey, 'serial'> & {serial?: string} = last ?? (await pendingKey(options))
  for (;;) {
    const {keys, serial} = key
    // A machine that joins for the first time may have the head of another cluster.
    const seen = last && (await witness.seen())
    const submit = async (...more: string[]) => {
      const request = await clientRequest(nodeName, keys, ...(serial ? [serial] : []), ...more)
      return await submitRequest(client, withWitnessed(request, seen), signal)
    }
    let submitted = await submit()
    const caller = await otherCaller(client, submitted, signal)
    if (caller) {
      tell(
        `the certificate request ${nameOf(submitted.csr)} waits, and was made with another credential, which may have been revoked since: requesting again with this one`,
      )
      submitted = await submit(caller.username, caller.credential ?? '')
    }
    const {csr, isResumed} = submitted
    if (!hasExpired(csr, clock.now())) {
      tell(
        isResumed
          ? `resuming with the certificate request ${nameOf(csr)} of an earlier run`
          : `created the certificate request ${nameOf(csr)}`,
      )
      return {...key, csr}
    }
    tell('the certificate of an earlier request has expired: requesting a new one')
    await discardPendingKey(pendingKeyOf(options))
    key = await pendingKey(options)
  }
}

/**
 * Who asks now, if an earlier run asked with another credential and nobody has decided since. A request of a revoked one is never approved
 * automatically. The key stays the same: an operator may have allowed it, and requests for several keys would be rivals for a Machine.
 */
export async function otherCaller(
  client: Pick<ApiClient, 'selfSubjectReviews'>,
  {csr, isResumed}: SubmittedRequest,
  signal: AbortSignal | undefined,
) {
  if (!isResumed || !isUndecided(csr)) return undefined
  const {spec} = csr
  const caller = await readCaller(client, signal)
  const isSame = caller?.username === spec.username && caller?.credential === credentialOf(spec)
  return isSame ? undefined : caller
}

/** Whether the certificate that a request led to has expired. */
export function hasExpired(csr: CertificateSigningRequest, now: Date): boolean {
  const pem = issuedPem(csr)
  if (pem === undefined) return false
  try {
    return parseCertificate(pem).notAfter <= now
  } catch {
    // The later check says what is wrong with it.
    return false
  }
}
