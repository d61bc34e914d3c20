import {peerCertificates, type PeerOptions} from '../../client/connector.ts'
import {messageOf, systemCode, TrustError} from '../../errors.ts'
import {readFileIfThere} from '../../fs/files.ts'
import {parseCertificateDer} from '../../pki/certificate.ts'
import {sleep} from '../../runtime.ts'
import {findAuthority} from '../certificates.ts'
import type {Plane} from '../config/plane.ts'
import {poll} from './hand-over.ts'
import type {Journal} from './journal.ts'
import {isIssuedBy} from './renew-leaves.ts'
import type {RotationContext} from './rotation-context.ts'
import {isHere} from './target.ts'
import {ETCD_CA, rotatesEtcd} from './units.ts'

/** In milliseconds. */
const TIMEOUT = 5000
const LOOK_EVERY = 1000
const TRIES = 2

/** Of a member that is off, or whose machine is. */
const OFF = ['ECONNREFUSED', 'EHOSTUNREACH', 'ENETUNREACH', 'ETIMEDOUT', 'UND_ERR_CONNECT_TIMEOUT']

/** With TLS 1.2, a member shows its certificate only to those who show theirs. */
async function clientPair({settings}: Plane): Promise<PeerOptions['clientCertificate']> {
  const [certificate, key] = await Promise.all([
    settings.etcdCertFile && readFileIfThere(settings.etcdCertFile),
    settings.etcdKeyFile && readFileIfThere(settings.etcdKeyFile, {secret: true}),
  ])
  return certificate && key ? {certificate: certificate.toString(), key: key.toString()} : undefined
}

/** The certificate that a member presents; undefined if it is off. */
async function presented(server: string, options: PeerOptions): Promise<Buffer | undefined> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      const [leaf] = await peerCertificates(new URL(server), options)
      return leaf
    } catch (error) {
      if (attempt < TRIES) continue
      if (OFF.includes(systemCode(error) ?? '')) return undefined
      throw error
    }
  }
}

/** The members of etcd that present a certificate of the old CA, or cannot be asked. A member that is off presents none. */
export async function membersBehind(plane: Plane): Promise<string[]> {
  const authority = await findAuthority(plane, ETCD_CA)
  const servers = (plane.settings.etcdServers ?? []).filter((one) => one.startsWith('https:'))
  if (!authority) return []
  const old = authority.bundle.filter(
    ({fingerprint}) => fingerprint !== authority.certificate.fingerprint,
  )
  // No proxy: the server does not use one for etcd either.
  const options = {
    timeout: TIMEOUT,
    environment: {},
    clientCertificate: await clientPair(plane),
  }
  const found = await Promise.all(
    servers.map(async (server) => {
      try {
        const der = await presented(server, options)
        const leaf = der && parseCertificateDer(der)
        const isBehind = leaf && old.some((one) => isIssuedBy(leaf, one))
        return isBehind ? [`${server} presents a certificate of the old CA`] : []
      } catch (error) {
        return [`${server} cannot be checked: ${messageOf(error)}`]
      }
    }),
  )
  return found.flat()
}

/**
 * Before the trust in the old CA of etcd ends: a member that uses copies of its files, or files of a machine that is off, would be lost
 * for all servers.
 */
export async function untilEtcdFollows(context: RotationContext, journal: Journal): Promise<void> {
  if (context.force || !rotatesEtcd(journal)) return
  let pause = 0
  await poll(context, journal, 'not every member of etcd has a new certificate', async () => {
    await sleep(pause)
    pause = LOOK_EVERY
    return await membersBehind(context.plane)
  })
}

/** Throws on a machine that has not the CA of etcd: it could not renew what the servers show to etcd. */
export async function requireCaOfEtcd(plane: Plane, journal: Journal): Promise<void> {
  if (!rotatesEtcd(journal) || (await isHere(plane, {id: ETCD_CA}))) return
  throw new TrustError('CONFLICT', 'the CA of etcd rotates, and is not on this machine', {
    hints: ['run the command on a machine that has pki/etcd/ca.crt and its key'],
  })
}
