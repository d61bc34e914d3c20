import type {Secret} from '../../api/core.ts'
import {openWith, sealWith} from '../../bootstrap/certificate-key.ts'
import {TrustError} from '../../errors.ts'
import {isJournal, type Journal} from './journal.ts'

/** Where a rotation hands its CAs and keys to the other servers on the same etcd. */
export const ROTATION_SECRET = {namespace: 'kube-system', name: 'trustadm-ca-rotation'}
const TYPE = 'trustadm.io/ca-rotation'
const MOST_BYTES = 768 * 1024

/** What the servers share: the state of the rotation, and the CAs and keys that it needs. */
export interface SharedRotation {
  /** With `shared`, the number of this one: a server never goes back to a lower one. */
  journal: Journal
  /** By their path in the folder of the rotation. Those of CAs that it does not change are in "rest". */
  files: Readonly<Record<string, string>>
}

/** What it is encrypted with, and for which cluster: the UID of its namespace kube-system. */
export interface SealedFor {
  key: Buffer
  cluster: string
}

const FILE = /^(?:(?:old|new|rest)\/[a-z0-9][a-z0-9.-]{0,100}\.(?:crt|key|pub)|cross\.crt)$/i

/** Whether other machines accept a file under this path. */
export const isSharedPath = (path: string): boolean => FILE.test(path)

/** What is not in the encrypted text and must be the same to open it: another number, or that of another cluster, does not open. */
const aboutOf = (cluster: string, generation: number): Buffer =>
  Buffer.from(JSON.stringify([TYPE, 1, cluster, generation]))

const base64 = (data: string | Buffer): string => Buffer.from(data).toString('base64')

export function sealRotation(shared: SharedRotation, {key, cluster}: SealedFor): Secret {
  const generation = shared.journal.shared ?? 0
  const sealed = sealWith(key, Buffer.from(JSON.stringify(shared)), aboutOf(cluster, generation))
  if (sealed.length > MOST_BYTES) {
    throw new TrustError('CONFLICT', 'the CAs of this rotation do not fit into one Secret', {
      hints: ['rotate fewer at once with --only: bundles with many certificates take much room'],
    })
  }
  return {
    metadata: ROTATION_SECRET,
    type: TYPE,
    data: {generation: base64(String(generation)), sealed: base64(sealed)},
  }
}

/** Which one it is, as it says itself; whether that is true shows when it is opened. 0 for none. */
export function generationIn(secret: Secret | undefined): number {
  const text = Buffer.from(secret?.data?.generation ?? '', 'base64').toString()
  return /^[1-9]\d{0,14}$/.test(text) ? Number(text) : 0
}

function isShared(value: unknown, generation: number): value is SharedRotation {
  const {journal, files} = (value ?? {}) as Partial<SharedRotation>
  return (
    isJournal(journal) &&
    journal.shared === generation &&
    typeof files === 'object' &&
    Object.entries(files).every(([path, text]) => isSharedPath(path) && typeof text === 'string')
  )
}

/** Decrypts it. Everything in it was written by a machine that has the key, for this cluster and with this number. */
export function openRotation(secret: Secret, {key, cluster}: SealedFor): SharedRotation {
  const generation = generationIn(secret)
  const text = secret.data?.sealed ?? ''
  if (text.length > 2 * MOST_BYTES) throw unusable('is too large')
  const sealed = Buffer.from(text, 'base64')
  const opened = openWith(key, sealed, aboutOf(cluster, generation))
  if (!opened || opened.length === 0) {
    throw unusable('cannot be decrypted with the key of this machine, or was changed')
  }
  const value: unknown = JSON.parse(opened.toString())
  if (isShared(value, generation)) return value
  throw unusable('is of another version of trustadm')
}

/** A server that does not know the CAs of the others must not serve. */
export function unusable(problem: string): TrustError {
  const {namespace, name} = ROTATION_SECRET
  return new TrustError('CERTS_UNUSABLE', `the Secret ${namespace}/${name} ${problem}`, {
    hints: [
      'copy pki/plane.key from a machine of the control plane that works, and start the server again',
      'or set this machine up again: "trustadm reset", then "join --control-plane"',
      'all servers must be of the same version of trustadm',
    ],
  })
}
