import {isDeepStrictEqual} from 'node:util'
import type {CertificateSigningRequest} from '../../api/certificates.ts'
import type {ApiClient} from '../../client/api-client.ts'
import {printable} from '../../client/printable.ts'
import {readRequest} from '../../csr/read-request.ts'
import {TrustError, hasCode} from '../../errors.ts'
import {createRequest} from '../../pki/create.ts'
import {publicKeyDer, type KeyPair} from '../../pki/keys.ts'
import {explain, shellWord} from './explain.ts'
import type {WantedCertificate} from './wanted.ts'

type Csr = CertificateSigningRequest

export interface Submitted {
  csr: Csr
  /** Whether an earlier run asked for it. */
  isTakenUp: boolean
}

/** Asks for a certificate. A request of that name for the same, and the same key, is taken up again; any other is refused. */
export async function submitRequest(
  {csrs}: Pick<ApiClient, 'csrs'>,
  name: string,
  wanted: WantedCertificate,
  keys: KeyPair,
): Promise<Submitted> {
  const pem = await createRequest(wanted.subject, keys, wanted.names)
  try {
    const csr = await csrs.create({
      metadata: {name},
      spec: {
        request: Buffer.from(pem).toString('base64'),
        signerName: wanted.signer,
        usages: wanted.usages,
        ...(wanted.seconds !== undefined && {expirationSeconds: wanted.seconds}),
      },
    })
    return {csr, isTakenUp: false}
  } catch (error) {
    if (!hasCode(error, 'ALREADY_EXISTS')) throw explain(error, name)
    const csr = await csrs.get({name})
    if (!isFor(csr, wanted, keys)) throw nameTaken(name, error)
    return {csr, isTakenUp: true}
  }
}

/** Whether a request asks for just this. */
function isFor({spec}: Csr, wanted: WantedCertificate, keys: KeyPair): boolean {
  const verdict = readRequest(spec.request)
  if ('why' in verdict) return false
  const {subject, names, publicKeyDer: der} = verdict.request
  return (
    der.equals(publicKeyDer(keys.publicKey)) &&
    spec.signerName === wanted.signer &&
    spec.expirationSeconds === wanted.seconds &&
    isDeepStrictEqual([...(spec.usages ?? [])].sort(), [...wanted.usages].sort()) &&
    subject.commonName === wanted.subject.commonName &&
    isDeepStrictEqual(subject.organizations, wanted.subject.organizations) &&
    isDeepStrictEqual(names, wanted.names)
  )
}

function nameTaken(name: string, cause: unknown): TrustError {
  return new TrustError(
    'ALREADY_EXISTS',
    `there is another certificate request "${printable(name)}"`,
    {
      cause,
      facts: {name},
      hints: [
        `look at it with "trustadm certificate show ${shellWord(name)}"`,
        'choose another name, or leave it out',
      ],
    },
  )
}
