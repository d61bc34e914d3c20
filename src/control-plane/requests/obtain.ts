import type {ApiClient} from '../../client/api-client.ts'
import {patienceFor, RETRY_BUSY_FOR, RETRY_FOR, timeLeft, withRetry} from '../../client/patience.ts'
import {shellWord} from '../../client/printable.ts'
import {stateOf, type CsrState} from '../../csr/conditions.ts'
import {requireRequested} from '../../enrollment/check.ts'
import {issuedPem, withoutCertificate} from '../../enrollment/outcome.ts'
import {buildRequest, submitRequest} from '../../enrollment/request.ts'
import {waitForCertificate} from '../../enrollment/wait.ts'
import {publicKeyDer, type KeyAlgorithm} from '../../pki/keys.ts'
import {pinOf} from '../../pki/pins.ts'
import type {Clock} from '../../runtime.ts'
import {describeIssued, readIssued, type IssuedCertificate} from './decode.ts'
import type {Destination, WrittenFiles} from './destination.ts'
import {getRequest} from './find.ts'
import {resolveName} from './names.ts'
import {discardKeyOf, keyFor, requireFree} from './request-key.ts'
import {ASK_UNDER_OTHER_NAME, requestName, type LabelledCertificate} from './wanted.ts'

export interface ObtainOptions {
  /** Of the request; else one that a second run finds again. */
  name?: string | undefined
  /** An existing key; else a new one is generated. */
  keyFile?: string | undefined
  algorithm?: KeyAlgorithm | undefined
  force: boolean
  wait: boolean
  /** Milliseconds for everything that the cluster does; 0 is no limit. */
  timeout: number
  /** The address of the cluster, to name while waiting for it. */
  server: string
  tell: (line: string) => void
  /** A command line for this cluster. */
  commandFor: (command: string) => string
}

/** What `certificate request` prints. */
export interface ObtainedCertificate {
  name: string
  signer: string
  state: CsrState
  /** Null while there is none. */
  certificate: IssuedCertificate | null
  files: WrittenFiles
}

/**
 * Generates a key, requests a certificate, waits for it and writes both. Run again after an interruption, it resumes with the same key
 * and request. Nothing is written to the destination before the certificate has been checked.
 */
export async function obtainCertificate(
  client: Pick<ApiClient, 'csrs'>,
  wanted: LabelledCertificate,
  destination: Destination,
  options: ObtainOptions,
  clock: Clock,
): Promise<ObtainedCertificate> {
  const {tell, commandFor} = options
  await requireFree(destination, options)
  const {keys, pem: keyPem, isResumed: isEarlierKey} = await keyFor(destination, options)
  const pin = pinOf({publicKeyDer: publicKeyDer(keys.publicKey)})
  const name = options.name ?? requestName(wanted, pin)
  const request = await buildRequest({name}, wanted, keys)
  const patience = patienceFor({
    timeout: options.timeout,
    retryFor: RETRY_FOR,
    retryBusyFor: RETRY_BUSY_FOR,
    clock,
    onWait: ({message}) => tell(`waiting for the cluster: ${message}`),
  })
  const submit = (signal: AbortSignal) => submitRequest(client, request, signal)
  const {csr, isResumed} = await withRetry(options.server, submit, patience)
  if (isResumed) tell(`resuming with the certificate request "${name}"`)
  else tell(`sent the request "${name}" to the signer ${wanted.signer}`)
  if (isEarlierKey && !isResumed) tell('with the key of an earlier run')
  const about = {name, signer: wanted.signer}
  if (!options.wait) {
    tell('run the same command again without --no-wait to fetch the certificate')
    return {...about, state: stateOf(csr), certificate: null, files: {}}
  }
  const {pem: certificatePem} = await waitForCertificate(client, csr, {
    timeout: timeLeft(patience),
    pendingAfter: 0,
    onPending: () =>
      tell(`waiting for approval: run "${commandFor(`certificate approve ${shellWord(name)}`)}"`),
    onTrouble: ({message}) => tell(`waiting for the cluster: ${message}`),
    hints: {...ASK_UNDER_OTHER_NAME, CERTIFICATE_PENDING: ['then run this command again']},
  })
  const {certificate, intermediates} = requireRequested(certificatePem, wanted, keys, clock.now())
  const files = await destination.write({keyPem, certificatePem})
  await discardKeyOf(destination)
  const described = describeIssued(certificate, intermediates.length)
  return {...about, state: 'Issued', certificate: described, files}
}

export interface DownloadedCertificate {
  name: string
  /** The chain as the signer returned it. */
  pem: string
  /** Null if it cannot be decoded. */
  certificate: IssuedCertificate | null
}

/** The certificate of a request; if there is none, throws an error with the state. */
export async function downloadCertificate(
  client: Pick<ApiClient, 'csrs'>,
  name: string,
): Promise<DownloadedCertificate> {
  const csr = await getRequest(client, await resolveName(client, name))
  const pem = issuedPem(csr)
  if (pem === undefined) throw withoutCertificate(csr, ASK_UNDER_OTHER_NAME)
  const issued = readIssued(pem)
  return {
    name,
    pem,
    certificate: 'certificate' in issued ? describeIssued(issued.certificate, issued.chain) : null,
  }
}
