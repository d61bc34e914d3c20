import type {StoredCredential} from '../src/node/credential-store.ts'
import {parseCertificate} from '../src/pki/certificate.ts'

/** As the store of a node, without a disk: that of this process is not what is measured. */
export function memoryStore(certificatePem: string, keyPem: string) {
  let stored: StoredCredential | undefined
  let count = 0
  const keep = (certificate: string, key: string) => {
    count += 1
    const file = String(count)
    const parsed = parseCertificate(certificate)
    stored = {certificatePem: certificate, keyPem: key, certificate: parsed, file}
    return Promise.resolve(file)
  }
  void keep(certificatePem, keyPem)
  return {
    read: () => Promise.resolve(stored),
    requireRoom: () => Promise.resolve(),
    currentFile: () => Promise.resolve(stored?.file),
    update: keep,
    removeExpired: () => Promise.resolve(),
  }
}
