import {createHash} from 'node:crypto'
import 'reflect-metadata'
import {BasicConstraintsExtension, X509CertificateGenerator} from '@peculiar/x509'
import {webcrypto} from 'node:crypto'
import type {ApiObject, UserInfo} from '../../../src/api/meta.ts'
import {parseCertificate, parseCertificateDer} from '../../../src/pki/certificate.ts'
import {createAuthorityCertificate} from '../../../src/pki/create.ts'
import {createIssuer} from '../../../src/pki/issuer.ts'
import type {Issuer} from '../../../src/pki/issuer.ts'
import {generateKeys} from '../../../src/pki/keys.ts'
import type {KeyPair} from '../../../src/pki/keys.ts'
import {NO_NAMES} from '../../../src/pki/subject-names.ts'
import type {Clock} from '../../../src/runtime.ts'
import type {ApiRequest, PeerCertificates} from '../../../src/server/kernel/api-request.ts'
import type {ObjectReader} from '../../../src/server/kernel/resource.ts'

export const NOW = new Date('2026-01-01T00:00:00Z')
export const MINUTE = 60_000
export const HOUR = 60 * MINUTE

export class TestClock implements Clock {
  #now = NOW.getTime()
  now = () => new Date(this.#now)
  advance(milliseconds: number): void {
    this.#now += milliseconds
  }
}

export const request = (parts: Partial<ApiRequest> = {}): ApiRequest => ({
  method: 'GET',
  path: '/version',
  query: new URLSearchParams(),
  headers: {},
  rawHeaders: [],
  body: new Uint8Array(),
  remoteAddress: '192.0.2.1',
  signal: new AbortController().signal,
  ...parts,
})

export const peerOf = (...chain: Uint8Array[]): PeerCertificates => ({
  fingerprint: createHash('sha256').update(Buffer.concat(chain)).digest('hex'),
  chain,
})

export interface TestAuthority {
  issuer: Issuer
  keys: KeyPair
}

export async function createAuthority(commonName = 'test-ca'): Promise<TestAuthority> {
  const keys = await generateKeys('ECDSA-P256')
  const pem = await createAuthorityCertificate({commonName}, keys, {
    notBefore: new Date(NOW.getTime() - HOUR),
    notAfter: new Date(NOW.getTime() + 1000 * HOUR),
  })
  return {issuer: createIssuer(parseCertificate(pem), keys.privateKey), keys}
}

const OID = {cn: '2.5.4.3', o: '2.5.4.10', uid: '1.3.6.1.4.1.57683.2'}

export interface LeafWishes {
  subject?: [keyof typeof OID, string][]
  usages?: string[]
  from?: Date
  until?: Date
  keys?: KeyPair
}

export async function createLeaf({issuer}: TestAuthority, wishes: LeafWishes = {}) {
  const {publicKey} = wishes.keys ?? (await generateKeys('ECDSA-P256'))
  return issuer.sign({
    attributes: (wishes.subject ?? [['cn', 'ann']]).map(([name, value]) => ({
      oid: OID[name],
      value,
    })),
    names: NO_NAMES,
    publicKeyDer: publicKey.export({type: 'spki', format: 'der'}),
    usages: wishes.usages ?? ['digital signature', 'client auth'],
    validity: {
      notBefore: wishes.from ?? new Date(NOW.getTime() - 5 * MINUTE),
      notAfter: wishes.until ?? new Date(NOW.getTime() + HOUR),
    },
  })
}

/** A CA below another one, which a client has to send along. */
export async function createIntermediate(
  above: TestAuthority,
): Promise<TestAuthority & {der: Buffer}> {
  const keys = await generateKeys('ECDSA-P256')
  const algorithm = {name: 'ECDSA', namedCurve: 'P-256'}
  const importKey = (format: 'pkcs8' | 'spki', der: Buffer, use: 'sign' | 'verify') =>
    webcrypto.subtle.importKey(format, der, algorithm, true, [use])
  const certificate = await X509CertificateGenerator.create({
    subject: 'CN=intermediate',
    issuer: 'CN=test-ca',
    serialNumber: '4242',
    notBefore: new Date(NOW.getTime() - HOUR),
    notAfter: new Date(NOW.getTime() + 100 * HOUR),
    publicKey: await importKey(
      'spki',
      keys.publicKey.export({type: 'spki', format: 'der'}),
      'verify',
    ),
    signingKey: await importKey(
      'pkcs8',
      above.keys.privateKey.export({type: 'pkcs8', format: 'der'}),
      'sign',
    ),
    signingAlgorithm: {name: 'ECDSA', hash: 'SHA-256'},
    extensions: [new BasicConstraintsExtension(true, undefined, true)],
  })
  const der = Buffer.from(certificate.rawData)
  return {issuer: createIssuer(parseCertificateDer(der), keys.privateKey), keys, der}
}

/** Objects by `plural/namespace/name`. */
export function objectReader(objects: Map<string, ApiObject>): ObjectReader {
  return {
    get: (plural, _group, namespace, name) => objects.get(`${plural}/${namespace}/${name}`),
    list: (plural) =>
      [...objects].flatMap(([key, object]) => (key.startsWith(`${plural}/`) ? [object] : [])),
  }
}

export const user = (username: string, ...groups: string[]): UserInfo => ({username, groups})
