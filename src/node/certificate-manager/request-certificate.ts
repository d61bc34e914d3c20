import type {CertificateSigningRequest} from '../../api/certificates.ts'
import type {ApiClient} from '../../client/api-client.ts'
import {withWitnessed} from '../../csr/log-head.ts'
import {refused, requireRequested, type IssuedChain} from '../../enrollment/check.ts'
import {buildRequest, submitRequest, type WantedCertificate} from '../../enrollment/request.ts'
import {waitForCertificate} from '../../enrollment/wait.ts'
import {privateKeyPem, type KeyPair} from '../../pki/keys.ts'
import type {Certificate} from '../../pki/certificate.ts'
import type {Clock} from '../../runtime.ts'
import {hasExpired, otherCaller} from '../first-certificate.ts'
import type {HeadWitness} from '../head-witness.ts'
import {type Pair, satisfies} from './pair.ts'
import {longestWait} from './rotation-deadline.ts'

/** As long as the kubelet waits for one request. */
const LONGEST_WAIT = 15 * 60_000
/** Long enough for an approver and a signer that are running. */
const SHORTEST_WAIT = 10_000

/** How long to wait for one request: there must be time for another one before the current certificate expires. */
export const requestTimeout = (
  current: {certificate: Pick<Certificate, 'notAfter'>} | undefined,
  now: Date,
): number => Math.max(SHORTEST_WAIT, Math.min(LONGEST_WAIT, longestWait(current?.certificate, now)))

export interface RequestOptions {
  clock: Clock
  /** What the new certificate is to replace in time. */
  current?: Pair | undefined
  /** Milliseconds to wait at most; by default as long as the kubelet. */
  patience?: number | undefined
  signal?: AbortSignal | undefined
  /** Called once the request exists. */
  onRequest?: ((csr: CertificateSigningRequest) => void) | undefined
  /** Called once if nobody has decided on the request for a while. */
  onPending?: ((csr: CertificateSigningRequest) => void) | undefined
  /** Hands in what the node has seen of the issuance log, and keeps what it sees now. */
  witness?: HeadWitness | undefined
  /** For a key that is kept: the name of the request, by which a later attempt finds it again. `more` makes it another one. */
  nameFor?: ((...more: string[]) => string) | undefined
}

export interface IssuedPair {
  certificatePem: string
  keyPem: string
  chain: IssuedChain
}

/** RSA keys can encipher, and old clients need that. */
const usagesFor = ({usages}: WantedCertificate, {publicKey}: KeyPair): readonly string[] =>
  publicKey.asymmetricKeyType === 'rsa' ? [...usages, 'key encipherment'] : usages

/** Resumes the request of an earlier attempt, unless it was made with another credential or led to a certificate that has expired. */
async function resume(
  client: Pick<ApiClient, 'csrs' | 'selfSubjectReviews'>,
  submit: (...more: string[]) => ReturnType<typeof submitRequest>,
  {clock, signal}: Pick<RequestOptions, 'clock' | 'signal'>,
): Promise<CertificateSigningRequest> {
  const found = await submit()
  if (found.isResumed && hasExpired(found.csr, clock.now())) {
    return (await submit(found.csr.metadata.uid ?? '')).csr
  }
  const caller = await otherCaller(client, found, signal)
  return caller ? (await submit(caller.username, caller.credential ?? '')).csr : found.csr
}

/**
 * Requests a certificate. For a key that exists only in memory, as the kubelet does for a renewal, an interrupted attempt is given
 * up, and the next one starts with another key and another request.
 */
export async function requestCertificate(
  client: Pick<ApiClient, 'csrs' | 'selfSubjectReviews'>,
  wanted: WantedCertificate,
  keys: KeyPair,
  options: RequestOptions,
): Promise<IssuedPair> {
  const {clock, current, patience = LONGEST_WAIT, signal, onRequest, onPending, witness} = options
  const {nameFor} = options
  const asked = {...wanted, usages: usagesFor(wanted, keys)}
  const seen = await witness?.seen()
  const create = async () => {
    const request = await buildRequest({generateName: 'csr-'}, asked, keys)
    return await client.csrs.create(withWitnessed(request, seen), {signal})
  }
  const csr = nameFor
    ? await resume(
        client,
        async (...more) => {
          const request = await buildRequest({name: nameFor(...more)}, asked, keys)
          return await submitRequest(client, withWitnessed(request, seen), signal)
        },
        options,
      )
    : await create()
  onRequest?.(csr)
  const {pem: certificatePem, head} = await waitForCertificate(client, csr, {
    timeout: Math.min(patience, requestTimeout(current, clock.now())),
    onPending,
    signal,
  })
  const chain = requireRequested(certificatePem, asked, keys, clock.now())
  if (!satisfies(chain.certificate, wanted)) throw refused('it is not for all requested names')
  await witness?.keep(head)
  return {certificatePem, keyPem: privateKeyPem(keys.privateKey), chain}
}
