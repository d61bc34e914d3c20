import type {Node} from '../../api/node.ts'
import type {BootstrapCredential} from '../../controllers/approval/bootstrap-credentials.ts'
import type {SeenClientList} from '../../server/authn/seen-clients.ts'
import type {IssuedCertificate, IssuedList} from '../issued-clients.ts'
import type {NamedSigner} from '../named-signers.ts'
import type {SeenListEntry} from '../seen-lists.ts'
import type {Which} from './generations.ts'
import type {UnitRecord} from './journal.ts'

/** Somebody who would be locked out if a generation of the CAs were not trusted any more. */
export interface Dependent {
  kind:
    | 'node'
    | 'client'
    | 'token'
    | 'secret'
    | 'bootstrap'
    | 'signer'
    | 'etcd'
    | 'issued'
    | 'forgotten'
    | 'replaced'
  /** As `--ignore` takes it. */
  name: string
  /** What `--ignore` takes for all of its group, if there is such a name. */
  group?: string
  reasons: string[]
  /** What has to be done about it. */
  todo: string
  lastSeen?: string
  address?: string
  userAgent?: string
  /** Of the certificate. */
  fingerprint?: string
}

/** Whether a member of etcd accepts clients of the new CA, at one of its addresses. */
export interface MemberTrust {
  server: string
  state: 'trusts' | 'refuses' | 'unknown'
  /** Why it is not known. */
  reason?: string
}

/** What has to be done about a node. */
export const todoOfNode = (name: string): string =>
  `run "trustadm node renew" on ${name}; if the machine is gone, delete its Node`

/** An issuance log of another machine that nobody could read. */
export interface UnreadLog {
  /** The name of the machine. */
  server: string
  /** When its newest line that is known was written. */
  time?: string | undefined
}

/** Certificates of an issuance log that are not listed. */
export interface UnlistedCertificates {
  /** The name of the machine. */
  server: string
  /** How many of each CA are too many. */
  more: NonNullable<IssuedList['more']>
  /** When the log began, if there was one before it that was moved away. */
  began?: string | undefined
}

/** A Secret with a token, by the key that has signed it. */
export interface TokenSecret {
  /** With its namespace. */
  name: string
  keyId: string
}

/** What a machine signs with that is not of the control plane. */
interface SignerReport {
  host: string
  signers: readonly NamedSigner[]
}

/** Everything that is known about who uses which CA. */
export interface Evidence {
  nodes: readonly Node[]
  /** Undefined if the server does not remember its clients. */
  seen: SeenClientList | undefined
  /** The servers that could not be asked whom they have seen. */
  unasked?: readonly string[]
  /** Those that are off: only their machines have their lists. */
  stopped?: readonly SeenListEntry[]
  issued: readonly IssuedCertificate[]
  /** What else is in those issuance logs, or was, and is not listed. */
  unlisted?: readonly UnlistedCertificates[]
  /** The issuance logs that are not in `issued`. */
  unread?: readonly UnreadLog[]
  /** The fingerprints of certificates that were revoked: nobody can use them. */
  revoked?: ReadonlySet<string>
  /** The Secrets with tokens of service accounts. */
  tokenSecrets?: readonly TokenSecret[]
  /** The credentials that machines are started with, but for those that were revoked. */
  bootstrap?: readonly BootstrapCredential[]
  /** Which members of etcd trust the new CA; empty if none is known. */
  etcd?: readonly MemberTrust[]
  /** Who signs with CAs that are not of the control plane. */
  signers?: readonly SignerReport[]
}

export interface DependentOptions {
  on: Which
  now: Date
  /** The control plane's own users: their certificates are renewed by the rotation itself. */
  own: ReadonlySet<string>
  /** Names that an operator has taken responsibility for. */
  ignored?: readonly string[]
  /** Clients that were not seen for so many milliseconds count as gone. */
  unseenFor?: number | undefined
}

/** What the CAs of a generation are known by. */
interface GenerationParts {
  pins: ReadonlySet<string>
  keyIds: ReadonlySet<string>
  fingerprints: ReadonlySet<string>
}

const values = (all: readonly (string | undefined)[]): Set<string> =>
  new Set(all.filter((one): one is string => one !== undefined && one !== ''))

/** Everything in the file of a generation, without what the other generation has too. Empty if the unit does not rotate. */
export function partsOf(units: readonly UnitRecord[], id: string, on: Which): GenerationParts {
  const unit = units.find((one) => one.id === id)
  const all = (which: Which) => (unit ? [unit[which], ...(unit[which].others ?? [])] : [])
  const stays = new Set(all(on === 'old' ? 'new' : 'old').map(({pin}) => pin))
  const leaving = all(on).filter(({pin}) => !stays.has(pin))
  return {
    pins: values(leaving.map(({pin}) => pin)),
    keyIds: values(leaving.map(({keyId}) => keyId)),
    fingerprints: values(leaving.map(({fingerprint}) => fingerprint)),
  }
}
