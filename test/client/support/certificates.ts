import {parseCertificate} from '../../../src/pki/certificate.ts'
import {createAuthorityCertificate} from '../../../src/pki/create.ts'
import {createIssuer, issueLeaf, type Issuer} from '../../../src/pki/issuer.ts'
import {generateKeys, privateKeyPem} from '../../../src/pki/keys.ts'
import {NO_NAMES, type SubjectNames} from '../../../src/pki/subject-names.ts'
import type {Usage} from '../../../src/pki/usages.ts'

export const DAY = 86_400_000

export interface TestAuthority {
  pem: string
  issuer: Issuer
}

export interface TestPair {
  certificate: string
  key: string
}

export async function makeAuthority(name = 'test-ca'): Promise<TestAuthority> {
  const keys = await generateKeys()
  const pem = await createAuthorityCertificate({commonName: name}, keys, around(30 * DAY))
  return {pem, issuer: createIssuer(parseCertificate(pem), keys.privateKey)}
}

export async function issue(
  {issuer}: TestAuthority,
  options: {
    name?: string
    names?: Partial<SubjectNames>
    usage?: Usage
    validity?: {notBefore: Date; notAfter: Date}
  } = {},
): Promise<TestPair> {
  const {name = 'server', names = {dns: ['localhost'], ips: ['127.0.0.1']}} = options
  const keys = await generateKeys()
  const certificate = await issueLeaf(issuer, {
    subject: {commonName: name},
    names: {...NO_NAMES, ...names},
    publicKey: keys.publicKey,
    usages: ['digital signature', options.usage ?? 'server auth'],
    validity: options.validity ?? around(DAY),
  })
  return {certificate, key: privateKeyPem(keys.privateKey)}
}

/** Valid from as long ago as it is still valid. */
export function around(milliseconds: number): {notBefore: Date; notAfter: Date} {
  return from(-milliseconds, milliseconds)
}

export function from(start: number, end: number): {notBefore: Date; notAfter: Date} {
  const now = Date.now()
  return {notBefore: new Date(now + start), notAfter: new Date(now + end)}
}
