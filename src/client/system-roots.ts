import {readFileIfThere, readFileSafely} from '../fs/files.ts'
import type {Environment} from './proxy-rules.ts'

/** Where Linux distributions and the BSDs store the roots that they trust, in Go's order. */
const PLACES = [
  '/etc/ssl/certs/ca-certificates.crt',
  '/etc/pki/tls/certs/ca-bundle.crt',
  '/etc/ssl/ca-bundle.pem',
  '/etc/pki/tls/cacert.pem',
  '/etc/pki/ca-trust/extracted/pem/tls-ca-bundle.pem',
  '/etc/ssl/cert.pem',
]

const READING = {followLinks: true, maxBytes: 16 * 1024 * 1024}

/**
 * The root certificates that this machine trusts, as PEM: from `SSL_CERT_FILE`, else from the system, and always those of
 * `NODE_EXTRA_CA_CERTS`. Undefined if the system has none in a file: then those of Node.js are used. Node.js does not read the
 * system's, where organisations add their own.
 */
export async function systemRoots(
  environment: Environment = process.env,
  places: readonly string[] = PLACES,
): Promise<string | undefined> {
  const named = environment.SSL_CERT_FILE
  const roots = named ? (await readFileSafely(named, READING)).toString() : await firstThere(places)
  if (roots === undefined) return undefined
  const extra = environment.NODE_EXTRA_CA_CERTS
  // As in Node.js: missing extra certificates are not an error.
  const added = extra ? await readFileIfThere(extra, READING).catch(() => undefined) : undefined
  return added ? `${roots}\n${added.toString()}` : roots
}

async function firstThere(places: readonly string[]): Promise<string | undefined> {
  for (const place of places) {
    const content = await readFileIfThere(place, READING).catch(() => undefined)
    if (content && content.length > 0) return content.toString()
  }
  return undefined
}
