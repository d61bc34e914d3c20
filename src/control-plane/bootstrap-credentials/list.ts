import type {ApiClient} from '../../client/api-client.ts'
import {
  idOfCredential,
  readCredentials,
  type BootstrapCredential,
} from '../../controllers/approval/bootstrap-credentials.ts'
import {BOOTSTRAPPER_NAMESPACES} from '../../csr/bootstrapper.ts'
import {TrustError} from '../../errors.ts'
import type {Clock} from '../../runtime.ts'
import type {Warn} from '../../controllers/signing/read-log.ts'
import {obtainedBy, type Obtained} from '../issuances.ts'
import {readUsages, type Usages} from './usage.ts'

type Client = Pick<ApiClient, 'configMaps' | 'secrets' | 'csrs'>

export interface CredentialReport extends Omit<BootstrapCredential, 'object'> {
  state: 'live' | 'expired' | 'revoked'
  /** Null once it is revoked. */
  object: string | null
  /** When a machine last asked for a certificate with it; null if that is not known. */
  lastUsed: string | null
  /** How many certificates were issued to its holders; null without an issuance log. */
  issued: number | null
  pending: string[]
}

export interface CredentialList {
  credentials: CredentialReport[]
}

export interface ReadOptions {
  /** The issuance log; undefined if it is on another machine. */
  log: string | undefined
  warn: Warn
  clock: Clock
}

function liveReport(
  found: BootstrapCredential,
  usages: Usages,
  {log, clock}: ReadOptions,
): CredentialReport {
  const usage = usages.get(found.credential ?? '')
  const isExpired = found.expires !== null && new Date(found.expires) < clock.now()
  return {
    ...found,
    state: isExpired ? 'expired' : 'live',
    lastUsed: usage?.lastUsed ?? null,
    issued: log === undefined ? null : (usage?.issued ?? 0),
    pending: usage?.pending ?? [],
  }
}

/** A credential that was used, and is no longer there. */
const revokedReports = (
  usages: Usages,
  live: readonly BootstrapCredential[],
  {log}: ReadOptions,
): CredentialReport[] =>
  [...usages]
    .filter(([credential]) => !live.some((one) => one.credential === credential))
    .map(([credential, {namespace, lastUsed, issued, pending}]) => ({
      id: idOfCredential(credential),
      kind: credential.startsWith('JTI=') ? 'token' : 'certificate',
      namespace,
      state: 'revoked',
      object: null,
      credential,
      created: null,
      expires: null,
      lastUsed,
      issued: log === undefined ? null : issued,
      pending,
    }))

/** The credentials that are live, and those that were used and are not. */
export async function listCredentials(
  client: Client,
  options: ReadOptions,
): Promise<CredentialList> {
  const found = await Promise.all(
    BOOTSTRAPPER_NAMESPACES.map((namespace) => readCredentials(client, namespace)),
  )
  const live = found.flat()
  const usages = await readUsages(client, options.log, options.warn)
  return {
    credentials: [
      ...live.map((one) => liveReport(one, usages, options)),
      ...revokedReports(usages, live, options),
    ],
  }
}

/** The one credential with that id, or credential-id. */
export async function findCredential(
  client: Client,
  id: string,
  options: ReadOptions,
): Promise<CredentialReport> {
  const {credentials} = await listCredentials(client, options)
  const matching = credentials.filter((one) => one.credential === id || one.id.startsWith(id))
  const [only, another] = matching
  if (only && !another) return only
  if (another) {
    throw new TrustError('USAGE', `several bootstrap credentials begin with "${id}"`, {
      hints: ['use the whole id, as "trustadm bootstrap-credential list" shows it'],
    })
  }
  throw new TrustError('NOT_FOUND', `there is no bootstrap credential "${id}"`, {
    hints: ['list them with "trustadm bootstrap-credential list"'],
    facts: {id},
  })
}

export interface CredentialDetails extends CredentialReport {
  /** Which machines joined with it; null without an issuance log. */
  obtained: Obtained | null
}

export async function showCredential(
  client: Client,
  id: string,
  options: ReadOptions,
): Promise<CredentialDetails> {
  const report = await findCredential(client, id, options)
  const {credential: credentialId} = report
  const {log, warn} = options
  const isKnown = log !== undefined && credentialId !== null
  return {...report, obtained: isKnown ? await obtainedBy(log, {credentialId}, warn) : null}
}
