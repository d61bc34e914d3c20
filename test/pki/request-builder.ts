import {sign} from 'node:crypto'
import {
  TAG,
  bitString,
  element,
  extension,
  oid,
  sequence,
  set,
  text,
} from '../../src/pki/der-writer.ts'
import {OID} from '../../src/pki/oids.ts'
import {encodePem} from '../../src/pki/pem.ts'
import type {KeyPair} from '../../src/pki/keys.ts'

export interface Attribute {
  oid: string
  value: string
  tag?: number
}

export interface RequestParts {
  subject?: Attribute[]
  /** One list for each extension request among the attributes. */
  extensions?: Buffer[][]
  publicKeyInfo?: Buffer
  /** Of the signature: its object identifier and hash. */
  algorithm?: {oid: string; hash: string}
  version?: number
  label?: string
}

const ECDSA_SHA256 = {oid: '1.2.840.10045.4.3.2', hash: 'sha256'}

export const encodeSubject = (attributes: Attribute[]): Buffer =>
  sequence(
    ...attributes.map(({oid: id, value, tag = TAG.utf8String}) =>
      set(sequence(oid(id), text(tag, value))),
    ),
  )

/** Requests that no honest tool makes, signed all the same. */
export function buildRequest(keys: KeyPair, parts: RequestParts = {}): string {
  const {
    algorithm = ECDSA_SHA256,
    extensions = [],
    version = 0,
    label = 'CERTIFICATE REQUEST',
  } = parts
  const content = sequence(
    element(TAG.integer, Uint8Array.of(version)),
    encodeSubject(parts.subject ?? [{oid: OID.commonName, value: 'someone'}]),
    parts.publicKeyInfo ?? keys.publicKey.export({format: 'der', type: 'spki'}),
    element(
      0xa0,
      ...extensions.map((list) => sequence(oid(OID.extensionRequest), set(sequence(...list)))),
    ),
  )
  const signature = sign(algorithm.hash, content, keys.privateKey)
  return encodePem(label, sequence(content, sequence(oid(algorithm.oid)), bitString(signature)))
}

export const authorityExtension = (): Buffer =>
  extension(OID.basicConstraints, sequence(element(TAG.boolean, Uint8Array.of(0xff))), {
    critical: true,
  })
