import {peerCertificates} from '../../client/connector.ts'
import {TrustError} from '../../errors.ts'
import {parseCertificateDer} from '../../pki/certificate.ts'
import {findAuthority} from '../certificates.ts'
import type {Plane} from '../config/plane.ts'
import type {Journal} from './journal.ts'
import {poll} from './hand-over.ts'
import {isIssuedBy} from './renew-leaves.ts'
import type {RotationContext} from './rotation-context.ts'
import {isHere} from './target.ts'
import {ETCD_CA} from './units.ts'

const TIMEOUT = 5000

const isRotating = ({units}: Journal): boolean => units.some(({id}) => id === ETCD_CA)

/** The members of etcd that present a certificate of another CA than the one that signs. A member that is off presents none. */
export async function membersBehind(plane: Plane): Promise<string[]> {
  const authority = await findAuthority(plane, ETCD_CA)
  const servers = (plane.settings.etcdServers ?? []).filter((one) => one.startsWith('https:'))
  if (!authority) return []
  const found = await Promise.all(
    servers.map(async (server) => {
      // No proxy: the server does not use one for etcd either.
      const how = {timeout: TIMEOUT, environment: {}}
      const [leaf] = await peerCertificates(new URL(server), how).catch(() => [])
      const isRight = !leaf || isIssuedBy(parseCertificateDer(leaf), authority.certificate)
      return isRight ? [] : [`${server} presents a certificate of the old CA`]
    }),
  )
  return found.flat()
}

/**
 * Before the trust in the old CA of etcd ends: a member that uses copies of its files, or files of a machine that is off, would be lost
 * for all servers.
 */
export async function untilEtcdFollows(context: RotationContext, journal: Journal): Promise<void> {
  if (context.force || !isRotating(journal)) return
  await poll(context, journal, 'not every member of etcd has a new certificate', () =>
    membersBehind(context.plane),
  )
}

/** Throws on a machine that has not the CA of etcd: it could not renew what the servers show to etcd. */
export async function requireCaOfEtcd(plane: Plane, journal: Journal): Promise<void> {
  if (!isRotating(journal) || (await isHere(plane, {id: ETCD_CA}))) return
  throw new TrustError('CONFLICT', 'the CA of etcd rotates, and is not on this machine', {
    hints: ['run the command on a machine that has pki/etcd/ca.crt and its key'],
  })
}
