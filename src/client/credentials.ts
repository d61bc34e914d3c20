import {createPrivateKey, X509Certificate, type KeyObject} from 'node:crypto'
import type {Clock} from '../runtime.ts'
import {kubeconfigInvalid} from './kubeconfig.ts'
import type {ClientCertificate, ServerAccess} from './server-access.ts'

const CERTIFICATES = /-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g
const KEY = /-----BEGIN ([A-Z ]*PRIVATE KEY)-----[^-]+-----END \1-----/

/** The certificates of a PEM text: at least one, and all of them readable. */
export function requireCertificates(pem: string, name: string): X509Certificate[] {
  const blocks = pem.match(CERTIFICATES) ?? []
  try {
    if (blocks.length > 0) return blocks.map((block) => new X509Certificate(block))
  } catch {
    // Reported below: the parser's message is of no help.
  }
  throw kubeconfigInvalid(`${name} in the kubeconfig is not a PEM certificate`)
}

/** A client certificate and its key, checked to belong together. Both may be in one file, as the kubelet stores them. */
export function clientCertificate(
  certificatePem: string | undefined,
  keyPem: string | undefined,
): ClientCertificate | undefined {
  if (certificatePem === undefined && keyPem === undefined) return undefined
  if (certificatePem === undefined) throw incomplete('a client-key', 'client-certificate')
  if (keyPem === undefined) throw incomplete('a client-certificate', 'client-key')
  const [leaf] = requireCertificates(certificatePem, 'client-certificate')
  const key = parseKey(keyPem)
  if (!leaf?.checkPrivateKey(key)) {
    throw kubeconfigInvalid('client-key in the kubeconfig is not the key of client-certificate')
  }
  return {
    certificate: (certificatePem.match(CERTIFICATES) ?? []).join('\n'),
    key: key.export({type: 'pkcs8', format: 'pem'}) as string,
  }
}

/** Problems that can be seen in the credentials themselves. */
export function credentialProblems({clientCertificate}: ServerAccess, clock: Clock): string[] {
  if (!clientCertificate) return []
  const {validFrom, validTo} = new X509Certificate(clientCertificate.certificate)
  const now = clock.now()
  if (new Date(validTo) < now) return [`the client certificate expired at ${isoOf(validTo)}`]
  if (new Date(validFrom) > now) {
    return [`the client certificate is valid from ${isoOf(validFrom)}: check this machine's clock`]
  }
  return []
}

function parseKey(pem: string): KeyObject {
  const [block] = KEY.exec(pem) ?? []
  try {
    if (block !== undefined) return createPrivateKey(block)
  } catch {
    // Reported below, without any part of the key.
  }
  throw kubeconfigInvalid('client-key in the kubeconfig is not an unencrypted PEM private key')
}

function incomplete(has: string, lacks: string) {
  return kubeconfigInvalid(`the user in the kubeconfig has ${has}, but no ${lacks}`)
}

function isoOf(date: string): string {
  return new Date(date).toISOString()
}
