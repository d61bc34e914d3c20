import {encodeAttributes, subjectAttributes, type Subject} from './distinguished-name.ts'
import {bitString, element, sequence, unsignedInteger} from './der-writer.ts'
import {publicKeyDer, type KeyPair} from './keys.ts'
import {encodePem} from './pem.ts'
import {signerFor} from './signatures.ts'

const VERSION = unsignedInteger(Uint8Array.of(0))
const NO_ATTRIBUTES = element(0xa0)

/**
 * A PKCS#10 request with only a subject, as PEM: what a kubelet needs to be a client. Written without the library of
 * `createRequest`, which takes longer to load than the rest of a join.
 */
export async function createPlainRequest(subject: Subject, keys: KeyPair): Promise<string> {
  const signer = signerFor(keys.privateKey)
  const content = sequence(
    VERSION,
    encodeAttributes(subjectAttributes(subject)),
    publicKeyDer(keys.publicKey),
    NO_ATTRIBUTES,
  )
  const signature = bitString(await signer.sign(content))
  return encodePem('CERTIFICATE REQUEST', sequence(content, signer.algorithm, signature))
}
