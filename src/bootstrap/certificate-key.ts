import {createCipheriv, createDecipheriv, randomBytes} from 'node:crypto'
import {elsewhere, TrustError} from '../errors.ts'

/** The key that the CAs of a control plane are encrypted with on their way to another one: 32 bytes, shown as 64 hexadecimal digits. */
export type CertificateKey = Buffer

const CIPHER = 'aes-256-gcm'
const KEY_BYTES = 32
const NONCE_BYTES = 12
const TAG_BYTES = 16
const FORM = /^[0-9a-f]{64}$/i
const NOTHING = Buffer.alloc(0)

export const generateCertificateKey = (): CertificateKey => randomBytes(KEY_BYTES)

export const formatCertificateKey = (key: CertificateKey): string => key.toString('hex')

/** The text is never shown: a mistyped key is still most of a secret. */
export function parseCertificateKey(text: string): CertificateKey {
  if (FORM.test(text)) return Buffer.from(text, 'hex')
  throw new TrustError('USAGE', 'the certificate key is not 64 hexadecimal digits', {
    hints: [
      'to upload the CAs, create one with "trustadm certificate certificate-key"',
      elsewhere(
        'to join, use the one that "trustadm init phase upload-certs" has printed on the control plane',
      ),
    ],
  })
}

/** AES-256-GCM as kubeadm has it: the nonce, the text and the tag. Of nothing, nothing. Whoever opens it must know `about`, which is not in it. */
export function sealWith(
  key: CertificateKey,
  data: Uint8Array,
  about: Uint8Array = NOTHING,
): Buffer {
  if (data.length === 0) return Buffer.alloc(0)
  const nonce = randomBytes(NONCE_BYTES)
  const cipher = createCipheriv(CIPHER, key, nonce).setAAD(about)
  return Buffer.concat([nonce, cipher.update(data), cipher.final(), cipher.getAuthTag()])
}

/** Opens what `sealWith` or kubeadm has sealed; undefined if the key is another one, or the data was changed. */
export function openWith(
  key: CertificateKey,
  sealed: Buffer,
  about: Uint8Array = NOTHING,
): Buffer | undefined {
  if (sealed.length === 0) return sealed
  if (sealed.length < NONCE_BYTES + TAG_BYTES) return undefined
  const end = sealed.length - TAG_BYTES
  const decipher = createDecipheriv(CIPHER, key, sealed.subarray(0, NONCE_BYTES), {
    authTagLength: TAG_BYTES,
  })
  decipher.setAAD(about).setAuthTag(sealed.subarray(end))
  try {
    return Buffer.concat([decipher.update(sealed.subarray(NONCE_BYTES, end)), decipher.final()])
  } catch {
    return undefined
  }
}
