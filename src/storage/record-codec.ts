import {randomUUID} from 'node:crypto'
import {crc32} from 'node:zlib'
import {TrustError} from '../errors.ts'
import type {VersionRecord} from './record-store.ts'

/**
 * A record on disk: checksum (4 bytes), kind (1), length of the key (2), revision of the creation (8), key, value. The
 * checksum also covers the revision, which is the record's key.
 */
const HEADER = 15
const WORD = 2 ** 32
const KIND = {put: 1, delete: 2}

/** Eight bytes, most significant first, so that byte order is the order of the revisions. */
export function revisionKey(revision: number): Buffer {
  const key = Buffer.allocUnsafe(8)
  key.writeUInt32BE(Math.floor(revision / WORD), 0)
  key.writeUInt32BE(revision % WORD, 4)
  return key
}

export function revisionOf(key: Uint8Array): number {
  if (key.length !== 8) throw damaged('a record is filed under something that is no revision')
  const words = new DataView(key.buffer, key.byteOffset, 8)
  return words.getUint32(0) * WORD + words.getUint32(4)
}

export function encodeRecord({revision, key, created, value}: VersionRecord): Buffer {
  const keyLength = Buffer.byteLength(key)
  const bytes = Buffer.allocUnsafe(HEADER + keyLength + (value?.length ?? 0))
  bytes.writeUInt8(value ? KIND.put : KIND.delete, 4)
  bytes.writeUInt16LE(keyLength, 5)
  revisionKey(created).copy(bytes, 7)
  bytes.write(key, HEADER)
  if (value) bytes.set(value, HEADER + keyLength)
  bytes.writeUInt32LE(checksum(revision, bytes), 0)
  return bytes
}

/** Throws STORE_CORRUPT if the bytes have changed since they were written. The value is a view of the bytes given. */
export function decodeRecord(revision: number, bytes: Buffer): VersionRecord {
  if (bytes.length < HEADER || bytes.readUInt32LE(0) !== checksum(revision, bytes)) {
    throw damaged(`the record of revision ${revision} does not have its checksum`)
  }
  const keyEnd = HEADER + bytes.readUInt16LE(5)
  const key = bytes.toString('utf8', HEADER, keyEnd)
  const created = revisionOf(bytes.subarray(7, HEADER))
  if (bytes.readUInt8(4) === KIND.delete) return {revision, key, created}
  const value = new Uint8Array(bytes.buffer, bytes.byteOffset + keyEnd, bytes.length - keyEnd)
  return {revision, key, created, value}
}

function checksum(revision: number, bytes: Buffer): number {
  return crc32(bytes.subarray(4), crc32(revisionKey(revision)))
}

export function damaged(what: string, cause?: unknown): TrustError {
  return new TrustError('STORE_CORRUPT', `the store is damaged: ${what}`, {
    cause,
    hints: ['nothing was changed: restore the folder "store" from a backup, or move it away'],
  })
}

const FORMAT = 'trustadm-store'
const VERSION = 1

/** The first record of the file: marks it as ours, with its format and the start of its history. */
export interface StoreHeader {
  format: typeof FORMAT
  version: number
  /** Identifies this store, also if another is restored under the same name. */
  instance: string
  compacted: number
}

export function newHeader(instance: string = randomUUID()): StoreHeader {
  return {format: FORMAT, version: VERSION, instance, compacted: 0}
}

/** A checksum of four bytes, then JSON. */
export function encodeHeader(header: StoreHeader): Buffer {
  const json = Buffer.from(JSON.stringify(header))
  const checksum = Buffer.allocUnsafe(4)
  checksum.writeUInt32LE(crc32(json))
  return Buffer.concat([checksum, json])
}

export function decodeHeader(bytes: Buffer): StoreHeader {
  const json = bytes.subarray(4)
  if (!json.includes(FORMAT)) throw foreign('the file is a database of another program')
  if (bytes.readUInt32LE(0) !== crc32(json)) throw damaged('its header lacks its checksum')
  const header = JSON.parse(json.toString()) as StoreHeader
  if (header.format === FORMAT && header.version === VERSION) return header
  if (header.format === FORMAT && header.version > VERSION) throw newer(header.version)
  throw foreign(`the store has format ${header.version}, this program knows ${VERSION}`)
}

function newer(version: number): TrustError {
  return new TrustError(
    'STORE_NEWER',
    `a newer trustadm wrote this store: it has format ${version}, this program reads up to ${VERSION}`,
    {
      hints: ['nothing was changed: upgrade trustadm on this machine, then run the command again'],
      facts: {format: version, supported: VERSION},
    },
  )
}

const FOREIGN = ['nothing was changed: choose another folder with "--dir", or move the file away']

export function foreign(what: string, hints = FOREIGN): TrustError {
  return new TrustError('STORE_FOREIGN', `this is not a store of this program: ${what}`, {hints})
}
