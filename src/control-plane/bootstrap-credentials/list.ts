import {stat} from 'node:fs/promises'
import type {CertificateSigningRequest} from '../../api/certificates.ts'
import type {ApiClient} from '../../client/api-client.ts'
import {
  type BootstrapCredential,
  idOfCredential,
  readCredentials,
} from '../../controllers/approval/bootstrap-credentials.ts'
import type {LogEntry} from '../../controllers/signing/log-line.ts'
import {readIssuances, type Warn} from '../../controllers/signing/read-log.ts'
import {BOOTSTRAPPER_NAMESPACES, bootstrapperNamespaceOf} from '../../csr/bootstrapper.ts'
import {isOpen} from '../../csr/conditions.ts'
import {credentialOf} from '../../csr/user-extra.ts'
import {TrustError} from '../../errors.ts'
import type {Clock} from '../../runtime.ts'
import {type Obtained, obtainedBy} from '../issuances.ts'
import {rememberedCredentials, type RememberedCredential} from './remembered.ts'

type Client = Pick<ApiClient, 'configMaps' | 'secrets' | 'csrs'>

export interface CredentialReport extends Omit<BootstrapCredential, 'object'> {
  state: 'live' | 'expired' | 'revoked'
  /** Null once it is gone; a revoked one may have been applied again from a copy. */
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

function presentReport(
  found: BootstrapCredential,
  isRevoked: boolean,
  usages: Usages,
  {log, clock}: ReadOptions,
): CredentialReport {
  const usage =
    usages.get(found.credential ?? '') ??
    (found.kind === 'token' ? usages.get(unnamedIn(found.namespace)) : undefined)
  const isExpired = found.expires !== null && new Date(found.expires) < clock.now()
  return {
    ...found,
    state: isRevoked ? 'revoked' : isExpired ? 'expired' : 'live',
    lastUsed: usage?.lastUsed ?? null,
    issued: log === undefined ? null : (usage?.issued ?? 0),
    pending: usage?.pending ?? [],
  }
}

/** A credential that is no longer there, and that the list of revocations names. */
const goneReport = (
  {id, kind, namespace, credential, expires}: RememberedCredential,
  usages: Usages,
  {log}: ReadOptions,
): CredentialReport => {
  const usage = usages.get(credential ?? '')
  return {
    ...{id, kind, namespace, credential, expires},
    state: 'revoked',
    object: null,
    created: null,
    lastUsed: usage?.lastUsed ?? null,
    issued: log === undefined ? null : (usage?.issued ?? 0),
    pending: usage?.pending ?? [],
  }
}

/** A credential that was used, and of which nothing else is left. */
const usedReports = (
  usages: Usages,
  known: readonly Pick<BootstrapCredential, 'credential'>[],
  {log}: ReadOptions,
): CredentialReport[] =>
  [...usages]
    .filter(([credential, {namespace}]) => credential !== unnamedIn(namespace))
    .filter(([credential]) => !known.some((one) => one.credential === credential))
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

/** The credentials that are live, those that were revoked, and those that were used and are gone. */
export async function listCredentials(
  client: Client,
  options: ReadOptions,
): Promise<CredentialList> {
  const found = await Promise.all(
    BOOTSTRAPPER_NAMESPACES.map((namespace) => readCredentials(client, namespace)),
  )
  const present = found.flat()
  const revoked = await rememberedCredentials(client)
  const usages = await readUsages(client, options.log, options.warn)
  const isRevoked = (one: BootstrapCredential) => revoked.some(({id}) => id === one.id)
  const gone = revoked.filter(({id}) => !present.some((one) => one.id === id))
  return {
    credentials: [
      ...present.map((one) => presentReport(one, isRevoked(one), usages, options)),
      ...gone.map((one) => goneReport(one, usages, options)),
      ...usedReports(usages, [...present, ...gone], options),
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

/** What is known of the use of one credential. */
interface CredentialUsage {
  namespace: string
  lastUsed: string
  /** How many certificates were requested with it and issued. */
  issued: number
  /** The names of its requests that wait. */
  pending: string[]
}

/** By credential-id. */
type Usages = ReadonlyMap<string, CredentialUsage>

/**
 * The key of what was used without being named: the tokens that kube-controller-manager makes have no id. Other servers accept no certificates
 * of ours, so it was the token.
 */
const unnamedIn = (namespace: string): string => `unnamed in ${namespace}`

interface Use {
  requester?: string | undefined
  credential?: string | undefined
  time: string
}

class UsageBook {
  readonly usages = new Map<string, CredentialUsage>()

  /** The usage of the requester's bootstrap credential; undefined if it is not a bootstrapper. */
  at({requester, credential: named, time}: Use): CredentialUsage | undefined {
    const namespace = bootstrapperNamespaceOf(requester)
    if (namespace === undefined) return undefined
    const credential = named ?? unnamedIn(namespace)
    const known = this.usages.get(credential)
    const entry = known ?? {namespace, lastUsed: time, issued: 0, pending: []}
    if (time > entry.lastUsed) entry.lastUsed = time
    this.usages.set(credential, entry)
    return entry
  }

  readonly seeLine = (entry: LogEntry): void => {
    if (!('requester' in entry)) return
    const use = this.at(entry)
    if (use && entry.decision === 'issued') use.issued += 1
  }

  seeRequest(csr: CertificateSigningRequest): void {
    const {metadata, spec} = csr
    const time = metadata.creationTimestamp ?? ''
    const use = this.at({requester: spec.username, credential: credentialOf(spec), time})
    if (use && isOpen(csr)) use.pending.push(metadata.name ?? '')
  }
}

/** What the issuance log, if there is one, and the requests in the cluster say about the use of each credential. */
async function readUsages(
  {csrs}: Pick<ApiClient, 'csrs'>,
  log: string | undefined,
  warn: Warn,
): Promise<Usages> {
  const book = new UsageBook()
  if (log !== undefined && (await stat(log).catch(() => undefined))) {
    await readIssuances(log, book.seeLine, warn)
  }
  await csrs.list({onPage: (items) => items.forEach((csr) => book.seeRequest(csr))})
  return book.usages
}
