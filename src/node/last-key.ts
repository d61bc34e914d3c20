import {readPendingKey} from '../enrollment/pending-key.ts'
import {isPairOf, parsePrivateKey, privateKeyPem, publicHalf, type KeyPair} from '../pki/keys.ts'
import {pendingKeyIn} from './cert-dir.ts'
import {isOwnCertificate} from './client-certificate.ts'
import type {CredentialStore} from './credential-store.ts'

/** A key that the cluster already knows as this node's. */
export interface LastKey {
  keys: KeyPair
  pem: string
  /** The serial number of its certificate, which is no longer valid. */
  serial: string
}

/**
 * The key of the node's last certificate, once that is no longer valid. A request with this key is approved at once, while one with
 * a new key would have to wait for an operator: the name belongs to the old key. Undefined if a request with it was refused, and a
 * new key is waiting for its turn.
 */
export async function findLastKey(
  store: CredentialStore,
  nodeName: string,
  now: Date,
): Promise<LastKey | undefined> {
  const last = await store.read()
  if (!last || !isOwnCertificate(last.certificate, nodeName)) return undefined
  const {certificate, keyPem} = last
  if (certificate.notBefore <= now && certificate.notAfter > now) return undefined
  const privateKey = parsePrivateKey(keyPem)
  const keys = {privateKey, publicKey: publicHalf(privateKey)}
  const pending = await readPendingKey(pendingKeyIn(store.folder))
  if (pending && !isPairOf(pending.keys.privateKey, keys.publicKey)) return undefined
  return {keys, pem: privateKeyPem(privateKey), serial: certificate.serial}
}
