import {createAuthorityCertificate, createRequest} from '../../../src/pki/create.ts'
import type {Subject} from '../../../src/pki/distinguished-name.ts'
import {generateKeys, privateKeyPem} from '../../../src/pki/keys.ts'
import type {SubjectNames} from '../../../src/pki/subject-names.ts'

/** Real certificates and requests for tests of what the server reads of them. */

export async function selfSignedPem() {
  const keys = await generateKeys()
  const validity = {
    notBefore: new Date('2026-01-01T00:00:00Z'),
    notAfter: new Date('2027-01-01T00:00:00Z'),
  }
  const certificate = await createAuthorityCertificate({commonName: 'test'}, keys, validity)
  return {certificate, key: privateKeyPem(keys.privateKey)}
}

const NO_NAMES: SubjectNames = {dns: [], ips: [], emails: [], uris: []}

export async function requestPem(
  subject: Subject = {commonName: 'x', organizations: ['testing-org']},
  names: Partial<SubjectNames> = {},
): Promise<string> {
  return createRequest(subject, await generateKeys(), {...NO_NAMES, ...names})
}

export const encoded = (text: string) => Buffer.from(text).toString('base64')

/** The same PEM in encodings that BER allows and DER does not: only the length of the outer sequence is written differently. */
export function berForms(pem: string): [name: string, pem: string][] {
  const label = /-----BEGIN (.*)-----/.exec(pem)?.[1] ?? ''
  const der = Buffer.from(pem.replaceAll(/-----.*-----|\s/g, ''), 'base64')
  // A sequence of more than 255 bytes begins with 30 82, and two bytes of length.
  const content = der.subarray(4)
  const form = (...parts: (Buffer | number[])[]) =>
    `-----BEGIN ${label}-----\n${Buffer.concat(parts.map((part) => Buffer.from(part))).toString('base64')}\n-----END ${label}-----\n`
  return [
    ['an indefinite length', form([0x30, 0x80], content, [0, 0])],
    ['a length with a leading zero', form([0x30, 0x83, 0], der.subarray(2, 4), content)],
  ]
}
