import type {CertificateSigningRequest} from '../../../src/api/certificates.ts'
import type {ApiClient} from '../../../src/client/api-client.ts'
import type {SignersByName} from '../../../src/controllers/signing/decide.ts'
import {SIGNER_RULES} from '../../../src/csr/signers.ts'
import {createRequest} from '../../../src/pki/create.ts'
import type {Issuer} from '../../../src/pki/issuer.ts'
import {generateKeys, type KeyPair} from '../../../src/pki/keys.ts'
import {NO_NAMES, type SubjectNames} from '../../../src/pki/subject-names.ts'
import {replaceable} from '../../helpers/test-trust.ts'

export const CLIENT_USAGES = ['digital signature', 'key encipherment', 'client auth']
export const SERVING_USAGES = ['digital signature', 'key encipherment', 'server auth']

/** Kubernetes' signers, with one CA for all. */
export const wellKnownSigners = (issuer: Issuer, duration: number) =>
  replaceable<SignersByName>(
    new Map(Object.entries(SIGNER_RULES).map(([name, rules]) => [name, {rules, issuer, duration}])),
  )

export interface Wish {
  name?: string
  signerName?: string
  commonName?: string
  organizations?: string[]
  names?: Partial<SubjectNames>
  usages?: string[]
  expirationSeconds?: number
  keys?: KeyPair
}

/** A request as an honest client makes it; for the kubelet-client signer and node "one" where nothing else is said. */
export async function csrFor(wish: Wish = {}): Promise<CertificateSigningRequest> {
  const {
    name = 'one',
    signerName = 'kubernetes.io/kube-apiserver-client-kubelet',
    commonName = 'system:node:one',
    organizations = ['system:nodes'],
    names = {},
    usages = CLIENT_USAGES,
    expirationSeconds,
    keys = await generateKeys(),
  } = wish
  const pem = await createRequest({commonName, organizations}, keys, {...NO_NAMES, ...names})
  return {
    metadata: {name},
    spec: {
      request: Buffer.from(pem).toString('base64'),
      signerName,
      usages,
      ...(expirationSeconds === undefined ? {} : {expirationSeconds}),
    },
  }
}

/** The same, as an approver left it. */
export async function approve(
  client: Pick<ApiClient, 'csrs'>,
  csr: CertificateSigningRequest,
): Promise<CertificateSigningRequest> {
  const conditions = [...(csr.status?.conditions ?? []), APPROVAL]
  return await client.csrs.updateSubresource('approval', {
    ...csr,
    status: {...csr.status, conditions},
  })
}

export const APPROVAL = {type: 'Approved', status: 'True', reason: 'Test'} as const

export const pemOf = ({status}: CertificateSigningRequest): string =>
  Buffer.from(status?.certificate ?? '', 'base64').toString()

export async function eventually<T>(read: () => Promise<T | undefined | false>): Promise<T> {
  for (let attempt = 0; attempt < 400; attempt += 1) {
    const found = await read()
    if (found !== undefined && found !== false) return found
    await new Promise((resolve) => setTimeout(resolve, 25))
  }
  throw new Error('it did not happen')
}

/** The request once it is signed or has failed. */
export const settled = (client: Pick<ApiClient, 'csrs'>, name: string) =>
  eventually(async () => {
    const csr = await client.csrs.get(name)
    const isDone =
      csr.status?.certificate !== undefined ||
      csr.status?.conditions?.some(({type}) => type === 'Failed')
    return isDone ? csr : undefined
  })
