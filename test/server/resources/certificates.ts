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
