import {isDeepStrictEqual} from 'node:util'
import type {CertificateSigningRequest} from '../api/certificates.ts'
import type {ApiClient} from '../client/api-client.ts'
import {printable, shellWord} from '../client/printable.ts'
import {parseSpecRequest} from '../csr/read-request.ts'
import {TrustError, hasCode} from '../errors.ts'
import {createPlainRequest, createRequest} from '../pki/create.ts'
import type {Subject} from '../pki/distinguished-name.ts'
import type {KeyPair} from '../pki/keys.ts'
import type {SubjectNames} from '../pki/subject-names.ts'

/** What to ask for, apart from the key. */
export interface WantedCertificate {
  subject: Required<Subject>
  names: Readonly<SubjectNames>
  signer: string
  usages: readonly string[]
  /** How long it should be valid; without it the signer chooses. */
  seconds?: number
}

export type NamedRequest = CertificateSigningRequest & {metadata: {name: string}}

export interface SubmittedRequest {
  csr: CertificateSigningRequest
  /** Whether an earlier run created it. */
  isResumed: boolean
}

/** The request object for a certificate, signed by its key. */
export async function buildRequest<Metadata extends {name: string} | {generateName: string}>(
  metadata: Metadata,
  {subject, names, signer, usages, seconds}: WantedCertificate,
  keys: KeyPair,
): Promise<CertificateSigningRequest & {metadata: Metadata}> {
  const isPlain = Object.values(names).every((list: readonly unknown[]) => list.length === 0)
  const pem = await (isPlain
    ? createPlainRequest(subject, keys)
    : createRequest(subject, keys, names))
  return {
    apiVersion: 'certificates.k8s.io/v1',
    kind: 'CertificateSigningRequest',
    metadata,
    spec: {
      request: Buffer.from(pem).toString('base64'),
      signerName: signer,
      usages: [...usages],
      ...(seconds !== undefined && {expirationSeconds: seconds}),
    },
  }
}

/** Creates the request. If one of that name asks for the same with the same key, resumes that one; refuses any other. */
export async function submitRequest(
  {csrs}: Pick<ApiClient, 'csrs'>,
  request: NamedRequest,
  signal?: AbortSignal,
): Promise<SubmittedRequest> {
  const {name} = request.metadata
  try {
    return {csr: await csrs.create(request, {signal}), isResumed: false}
  } catch (error) {
    if (!hasCode(error, 'ALREADY_EXISTS')) throw error
    const csr = await csrs.get(name, {signal})
    if (!asksForSame(csr, request)) throw nameTaken(name, error)
    return {csr, isResumed: true}
  }
}

function asksForSame(existing: CertificateSigningRequest, ours: NamedRequest): boolean {
  const [left, right] = [contentOf(existing), contentOf(ours)]
  return left !== undefined && isDeepStrictEqual(left, right)
}

/** Two signatures of the same request differ, so its bytes cannot be compared. */
function contentOf({spec}: CertificateSigningRequest) {
  const verdict = parseSpecRequest(spec.request)
  if ('why' in verdict) return undefined
  const {subject, names, publicKeyDer} = verdict.request
  const {commonName, organizations} = subject
  const {signerName, expirationSeconds, usages = []} = spec
  const identity = {commonName, organizations, names, key: publicKeyDer.toString('hex')}
  return {...identity, signerName, expirationSeconds, usages: [...usages].sort()}
}

function nameTaken(name: string, cause: unknown): TrustError {
  return new TrustError(
    'ALREADY_EXISTS',
    `there is another certificate request "${printable(name)}"`,
    {
      cause,
      facts: {request: name},
      hints: [
        `check it with "trustadm certificate show ${shellWord(name)}"`,
        'delete it if nobody needs it, or use another name',
      ],
    },
  )
}
