import type {CertificateSigningRequest} from '../../../src/api/certificates.ts'
import type {ApiClient} from '../../../src/client/api-client.ts'
import {parseSpecRequest} from '../../../src/csr/read-request.ts'
import {API_SERVER_CLIENT} from '../../../src/csr/signers.ts'
import {createRequest} from '../../../src/pki/create.ts'
import {issueFromRequest, type Issuer} from '../../../src/pki/issuer.ts'
import {generateKeys, type KeyPair} from '../../../src/pki/keys.ts'
import {validityFor} from '../../../src/pki/lifetimes.ts'
import {NO_NAMES, type SubjectNames} from '../../../src/pki/subject-names.ts'
import {systemClock} from '../../../src/runtime.ts'

type Csr = CertificateSigningRequest

export interface NewRequest {
  name: string
  commonName?: string
  organizations?: string[]
  names?: Readonly<SubjectNames>
  signer?: string
  usages?: string[]
  labels?: Record<string, string>
  seconds?: number
  keys?: KeyPair
}

let shared: Promise<KeyPair> | undefined

/** Makes a request as anybody with a key would. */
export async function makeRequest(
  {csrs}: Pick<ApiClient, 'csrs'>,
  {name, commonName = 'ada', organizations = [], ...options}: NewRequest,
): Promise<Csr> {
  const keys = options.keys ?? (await (shared ??= generateKeys()))
  const pem = await createRequest({commonName, organizations}, keys, options.names ?? NO_NAMES)
  return await csrs.create({
    metadata: {name, ...(options.labels && {labels: options.labels})},
    spec: {
      request: Buffer.from(pem).toString('base64'),
      signerName: options.signer ?? API_SERVER_CLIENT,
      usages: options.usages ?? ['digital signature', 'client auth'],
      ...(options.seconds !== undefined && {expirationSeconds: options.seconds}),
    },
  })
}

/** Signs an approved request, as a signer would. */
export async function signRequest(
  {csrs}: Pick<ApiClient, 'csrs'>,
  issuer: Issuer,
  name: string,
): Promise<void> {
  const csr = await csrs.get({name})
  const verdict = parseSpecRequest(csr.spec.request)
  if ('why' in verdict) throw new Error(verdict.why)
  const pem = await issueFromRequest(issuer, verdict.request, {
    usages: csr.spec.usages ?? [],
    validity: validityFor(systemClock.now(), 3_600_000, issuer.certificate.notAfter),
  })
  await setCertificate({csrs}, name, pem)
}

export async function setCertificate(
  {csrs}: Pick<ApiClient, 'csrs'>,
  name: string,
  pem: string,
): Promise<void> {
  const csr = await csrs.get({name})
  const certificate = Buffer.from(pem).toString('base64')
  await csrs.updateStatus({...csr, status: {...csr.status, certificate}})
}

/** Approves, denies or fails a request through the API, with the words of somebody else. */
export async function addCondition(
  {csrs}: Pick<ApiClient, 'csrs'>,
  name: string,
  type: 'Approved' | 'Denied' | 'Failed',
  {reason = 'Test', message = 'by the test'} = {},
): Promise<void> {
  const csr = await csrs.get({name})
  const condition = {type, status: 'True' as const, reason, message}
  const conditions = [...(csr.status?.conditions ?? []), condition]
  const changed = {...csr, status: {...csr.status, conditions}}
  await (type === 'Failed'
    ? csrs.updateStatus(changed)
    : csrs.updateSubresource('approval', changed))
}
