import {writeFile} from 'node:fs/promises'
import {createAuthorityCertificate} from '../../../src/pki/create.ts'
import {generateKeys, privateKeyPem} from '../../../src/pki/keys.ts'

const DAY = 86_400_000

/** A CA that an operator has: `<path>.crt` and `<path>.key`. */
export async function makeAuthority(path: string): Promise<void> {
  const keys = await generateKeys()
  const pem = await createAuthorityCertificate({commonName: 'services'}, keys, {
    notBefore: new Date(Date.parse('2026-01-01')),
    notAfter: new Date(Date.parse('2026-01-01') + 3650 * DAY),
  })
  await writeFile(`${path}.crt`, pem)
  await writeFile(`${path}.key`, privateKeyPem(keys.privateKey), {mode: 0o600})
}
