import type {CertificateSigningRequest} from '../../api/certificates.ts'
import type {ApiClient} from '../../client/api-client.ts'
import {stateOf, type CsrState} from '../../csr/conditions.ts'
import {TrustError} from '../../errors.ts'
import {publicKeyDer, type KeyAlgorithm, type KeyPair} from '../../pki/keys.ts'
import {pinOf} from '../../pki/pins.ts'
import {approveCommand, nameOf} from './explain.ts'
import {describeIssued, issuedPem, readIssued, type IssuedCertificate} from './issued.ts'
import {forgetPendingKey, preparePlace, type Place, type WrittenFiles} from './destination.ts'
import {ensurePendingKey, readOwnKey, requireFree} from './request-key.ts'
import {submitRequest} from './submit.ts'
import {waitForCertificate} from './wait.ts'
import {requestName, type WantedCertificate} from './wanted.ts'

export interface ObtainOptions {
  /** Of the request; else one that a second run finds again. */
  name?: string | undefined
  /** A key that is there; else one is made. */
  keyFile?: string | undefined
  algorithm?: KeyAlgorithm | undefined
  force: boolean
  wait: boolean
  /** Milliseconds; 0 is for ever. */
  timeout: number
  tell: (line: string) => void
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
 * Makes a key, asks for its certificate, waits for it and writes both. Run again after an interruption it goes on with the same key and
 * the same request. Nothing is written in the final place before the certificate is known to be for our key.
 */
export async function obtainCertificate(
  client: Pick<ApiClient, 'csrs'>,
  wanted: WantedCertificate,
  place: Place,
  options: ObtainOptions,
): Promise<ObtainedCertificate> {
  const {tell} = options
  await preparePlace(place)
  await requireFree(place, options)
  const {keys, pem, isKept} = await keyFor(place, options)
  const name =
    options.name ?? requestName(wanted, pinOf({publicKeyDer: publicKeyDer(keys.publicKey)}))
  const {csr, isTakenUp} = await submitRequest(client, name, wanted, keys)
  if (isTakenUp) tell(`going on with the certificate request "${name}"`)
  else tell(`asked ${wanted.signer} for a certificate by the request "${name}"`)
  if (isKept && !isTakenUp && options.keyFile === undefined) tell('with the key of an earlier run')
  const about = {name, signer: wanted.signer}
  if (!options.wait) {
    tell(`run the same command again without --no-wait to fetch the certificate`)
    return {...about, state: stateOf(csr), certificate: null, files: {}}
  }
  const issued = await waitForCertificate(client, name, {
    timeout: options.timeout,
    onPending: () => tell(`it waits for somebody to approve it: ${approveCommand(name)}`),
  })
  const {certificatePem, certificate} = requireForKey(issued, keys)
  const files = await place.write({keyPem: pem, certificatePem})
  await forgetPendingKey(place)
  return {...about, state: stateOf(issued), certificate, files}
}

async function keyFor({pendingKey}: Place, {keyFile, algorithm}: ObtainOptions) {
  if (keyFile !== undefined) return await readOwnKey(keyFile)
  if (pendingKey === undefined) throw new Error('a place without a key needs the key of its owner')
  return await ensurePendingKey(pendingKey, algorithm)
}

/** A certificate for another key would be of no use, and a sign that somebody answers who should not. */
function requireForKey(csr: CertificateSigningRequest, {publicKey}: KeyPair) {
  const certificatePem = issuedPem(csr) ?? ''
  const issued = readIssued(certificatePem)
  if ('why' in issued) {
    throw new TrustError(
      'CERTIFICATE_INVALID',
      `what the signer answered to "${nameOf(csr)}" cannot be used: ${issued.why}`,
    )
  }
  const {certificate, chain} = issued
  if (!certificate.publicKeyDer.equals(publicKeyDer(publicKey))) {
    throw new TrustError(
      'PAIR_MISMATCH',
      `the certificate of the request "${nameOf(csr)}" is for another key`,
      {hints: [`do not use it, and ask whoever runs ${csr.spec.signerName}`]},
    )
  }
  return {certificatePem, certificate: describeIssued(certificate, chain)}
}
