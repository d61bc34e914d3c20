import {execFile} from 'node:child_process'
import {mkdtemp, rm, writeFile} from 'node:fs/promises'
import {tmpdir} from 'node:os'
import {join} from 'node:path'
import {promisify} from 'node:util'
import {parseCertificate, type Certificate} from '../../src/pki/certificate.ts'
import {createAuthorityCertificate} from '../../src/pki/create.ts'
import {createIssuer, issueLeaf, type Issuer, type LeafTemplate} from '../../src/pki/issuer.ts'
import {generateKeys, type KeyPair} from '../../src/pki/keys.ts'
import type {Validity} from '../../src/pki/lifetimes.ts'
import {NO_NAMES} from '../../src/pki/subject-names.ts'
import type {Clock} from '../../src/runtime.ts'

const run = promisify(execFile)

export const HOUR = 3_600_000
export const DAY = 24 * HOUR
export const NOW = new Date('2026-03-01T12:00:00Z')

/** A clock that stands still until it is moved. */
export function fixedClock(start: Date = NOW): Clock & {advance: (milliseconds: number) => void} {
  let time = start.getTime()
  return {
    now: () => new Date(time),
    advance: (milliseconds) => {
      time += milliseconds
    },
  }
}

/** A folder of its own, removed after the test. */
export function useTemporaryFolder(): () => string {
  let folder = ''
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'trustadm-pki-'))
  })
  afterEach(async () => {
    await rm(folder, {recursive: true, force: true})
  })
  return () => folder
}

/** Standard output and standard error of the real openssl; rejects where it fails. */
export async function openssl(...args: string[]): Promise<string> {
  const {stdout, stderr} = await run('openssl', args)
  return stdout + stderr
}

export async function save(folder: string, files: Record<string, string>): Promise<void> {
  for (const [name, text] of Object.entries(files)) await writeFile(join(folder, name), text)
}

export const validAround = (now: Date, days = 30): Validity => ({
  notBefore: new Date(now.getTime() - HOUR),
  notAfter: new Date(now.getTime() + days * DAY),
})

export interface TestAuthority {
  keys: KeyPair
  pem: string
  certificate: Certificate
  issuer: Issuer
}

export async function testAuthority({
  commonName = 'test-ca',
  keys: given = generateKeys(),
  validity = validAround(NOW, 3650),
}: {
  commonName?: string
  keys?: Promise<KeyPair>
  validity?: Validity
} = {}): Promise<TestAuthority> {
  const keys = await given
  const pem = await createAuthorityCertificate({commonName}, keys, validity)
  const certificate = parseCertificate(pem)
  return {keys, pem, certificate, issuer: createIssuer(certificate, keys.privateKey)}
}

export async function testLeaf(
  issuer: Issuer,
  template: Partial<LeafTemplate> = {},
): Promise<{pem: string; certificate: Certificate; keys: KeyPair}> {
  const keys = await generateKeys()
  const pem = await issueLeaf(issuer, {
    subject: {commonName: 'someone'},
    names: NO_NAMES,
    publicKey: keys.publicKey,
    usages: ['digital signature', 'client auth'],
    validity: validAround(NOW),
    ...template,
  })
  return {pem, certificate: parseCertificate(pem), keys}
}

/** Where openssl is not installed, the tests of the block are reported as pending, with the reason on standard error. */
export function skipWithoutOpenssl(): void {
  before(async function () {
    await openssl('version').catch(() => {
      process.stderr.write('    skipped: there is no openssl on PATH to compare with\n')
      this.skip()
    })
  })
}
