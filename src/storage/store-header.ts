import {randomUUID} from 'node:crypto'
import {crc32} from 'node:zlib'
import {TrustError} from '../errors.ts'
import {damaged} from './record-codec.ts'

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

export function newHeader(): StoreHeader {
  return {format: FORMAT, version: VERSION, instance: randomUUID(), compacted: 0}
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
