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

interface Attribute {
  oid: string
  value: string
  tag?: number
}

export interface RequestParts {
  subject?: Attribute[]
  /** One list for each extension request among the attributes. */
  extensions?: Buffer[][]
  publicKeyInfo?: Buffer
  /** Of the signature: its object identifier, with parameters where there are any, and hash. */
  algorithm?: SigningAlgorithm
  /** Further attributes, whole, beside the extension requests. */
  attributes?: Buffer[]
  version?: number
  label?: string
}

export interface SigningAlgorithm {
  oid: string
  /** Absent for Ed25519. */
  hash?: string
  parameters?: Buffer
}

export const SIGN = {
  rsaMd5: {oid: '1.2.840.113549.1.1.4', hash: 'md5'},
  rsaSha1: {oid: '1.2.840.113549.1.1.5', hash: 'sha1'},
  rsaSha256: {oid: '1.2.840.113549.1.1.11', hash: 'sha256'},
  rsaSha384: {oid: '1.2.840.113549.1.1.12', hash: 'sha384'},
  rsaSha512: {oid: '1.2.840.113549.1.1.13', hash: 'sha512'},
  ecdsaSha1: {oid: '1.2.840.10045.4.1', hash: 'sha1'},
  ecdsaSha256: {oid: '1.2.840.10045.4.3.2', hash: 'sha256'},
  ecdsaSha384: {oid: '1.2.840.10045.4.3.3', hash: 'sha384'},
  ecdsaSha512: {oid: '1.2.840.10045.4.3.4', hash: 'sha512'},
  dsaSha256: {oid: '2.16.840.1.101.3.4.3.2', hash: 'sha256'},
  ed25519: {oid: '1.3.101.112'},
} satisfies Record<string, SigningAlgorithm>

const encodeSubject = (attributes: Attribute[]): Buffer =>
  sequence(
    ...attributes.map(({oid: id, value, tag = TAG.utf8String}) =>
      set(sequence(oid(id), text(tag, value))),
    ),
  )

/** Requests that no honest tool makes, signed all the same. */
export function buildRequest(keys: KeyPair, parts: RequestParts = {}): string {
  const {
    algorithm = SIGN.ecdsaSha256,
    attributes = [],
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
      ...attributes,
      ...extensions.map((list) => sequence(oid(OID.extensionRequest), set(sequence(...list)))),
    ),
  )
  const {hash, oid: id, parameters = Buffer.alloc(0)}: SigningAlgorithm = algorithm
  const signature = sign(hash, content, keys.privateKey)
  return encodePem(label, sequence(content, sequence(oid(id), parameters), bitString(signature)))
}

export const authorityExtension = (): Buffer =>
  extension(OID.basicConstraints, sequence(element(TAG.boolean, Uint8Array.of(0xff))), {
    critical: true,
  })
