import {stat} from 'node:fs/promises'
import type {CertificateSigningRequest} from '../../api/certificates.ts'
import type {ApiClient} from '../../client/api-client.ts'
import type {LogEntry} from '../../controllers/signing/log-line.ts'
import {isOpen} from '../../csr/conditions.ts'
import {bootstrapperNamespaceOf} from '../../csr/bootstrapper.ts'
import {credentialOf} from '../../csr/user-extra.ts'
import {readIssuances, type Warn} from '../../controllers/signing/read-log.ts'

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
export type Usages = ReadonlyMap<string, CredentialUsage>

interface Use {
  requester?: string | undefined
  credential?: string | undefined
  time: string
}

class UsageBook {
  readonly usages = new Map<string, CredentialUsage>()

  /** The usage of the requester's bootstrap credential; undefined if it used none. */
  at({requester, credential, time}: Use): CredentialUsage | undefined {
    const namespace = bootstrapperNamespaceOf(requester)
    if (namespace === undefined || credential === undefined) return undefined
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
export async function readUsages(
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
