import {acceptsClient, peerCertificates, type PeerOptions} from '../../client/connector.ts'
import {messageOf, systemCode, TrustError} from '../../errors.ts'
import {readFileIfThere} from '../../fs/files.ts'
import {parseCertificate, parseCertificateDer} from '../../pki/certificate.ts'
import {createAuthorityCertificate} from '../../pki/create.ts'
import {issueLeaf} from '../../pki/issuer.ts'
import {generateKeys, privateKeyPem} from '../../pki/keys.ts'
import {authorityValidity, validityFor} from '../../pki/lifetimes.ts'
import {NO_NAMES} from '../../pki/subject-names.ts'
import {sleep} from '../../runtime.ts'
import {Endpoints} from '../../storage/etcd/endpoints.ts'
import {Gateway} from '../../storage/etcd/gateway.ts'
import {findAuthority} from '../certificates.ts'
import {etcdOf} from '../config/etcd.ts'
import type {Plane} from '../config/plane.ts'
import type {MemberTrust} from './dependent.ts'
import {issuerOf, readHeld, type HeldAuthority} from './generations.ts'
import {poll} from './hand-over.ts'
import type {Journal} from './journal.ts'
import {isIssuedBy} from './renew-leaves.ts'
import type {RotationContext} from './rotation-context.ts'
import {isHere} from './target.ts'
import {ETCD_CA, rotatesEtcd, unitFor} from './units.ts'

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

type Pair = NonNullable<PeerOptions['clientCertificate']>

const CHECK_LIFETIME = 600_000

/** A client certificate for these checks alone, which is never written. */
async function checkPair(authority: HeldAuthority, now: Date): Promise<Pair | undefined> {
  const issuer = issuerOf(authority)
  if (!issuer) return undefined
  const keys = await generateKeys()
  const certificate = await issueLeaf(issuer, {
    subject: {commonName: 'trustadm-ca-rotate'},
    names: NO_NAMES,
    publicKey: keys.publicKey,
    usages: ['client auth'],
    validity: validityFor(now, CHECK_LIFETIME, issuer.certificate.notAfter),
  })
  return {certificate, key: privateKeyPem(keys.privateKey)}
}

/** The same of a CA that nobody trusts: whoever accepts this, too, checks no certificates. */
async function strangersPair(now: Date): Promise<Pair | undefined> {
  const keys = await generateKeys()
  const pem = await createAuthorityCertificate(
    {commonName: 'nobody'},
    keys,
    authorityValidity(now, DAY),
  )
  const certificate = parseCertificate(pem)
  return await checkPair(
    {certificate, bundle: [certificate], keyPem: privateKeyPem(keys.privateKey)},
    now,
  )
}

const DAY = 86_400_000

/** The addresses of all members, for clients and for each other. */
async function addressesOf(plane: Plane): Promise<string[]> {
  const settings = etcdOf(plane.settings)
  if (!settings) return []
  const gateway = new Gateway(new Endpoints(settings, () => undefined), TIMEOUT)
  try {
    const {members = []} = await gateway.call<{
      header?: object
      members?: {clientURLs?: string[]; peerURLs?: string[]}[]
    }>('cluster/member/list', {})
    return members.flatMap(({clientURLs = [], peerURLs = []}) => [...clientURLs, ...peerURLs])
  } finally {
    await gateway.close()
  }
}

/**
 * Whether every member of etcd has read the new CA, which it does only when it starts: a client certificate of the new CA is shown to each, where it serves clients
 * and where it serves other members.
 */
export async function trustOfMembers(plane: Plane, now: Date): Promise<MemberTrust[]> {
  const configured = plane.settings.etcdServers ?? []
  if (configured.length === 0) return []
  const held = await readHeld(plane, unitFor(plane, {id: ETCD_CA}), 'new')
  const pair = held && (await checkPair(held, now))
  const unknown = (server: string, reason: string): MemberTrust => ({
    server,
    state: 'unknown',
    reason,
  })
  if (!pair) return configured.map((one) => unknown(one, 'the new CA is not on this machine'))
  const stranger = await strangersPair(now)
  const options = (clientCertificate: Pair | undefined) => ({
    timeout: TIMEOUT,
    environment: {},
    clientCertificate,
  })
  const check = async (server: string): Promise<MemberTrust> => {
    try {
      const url = new URL(server)
      if (!(await acceptsClient(url, options(pair)))) return {server, state: 'refuses'}
      return (await acceptsClient(url, options(stranger)))
        ? unknown(server, 'it does not check the certificates of clients')
        : {server, state: 'trusts'}
    } catch (error) {
      return unknown(server, messageOf(error))
    }
  }
  const listed = await addressesOf(plane).catch((error: unknown) => messageOf(error))
  const all = new Set([...configured, ...(typeof listed === 'string' ? [] : listed)])
  const servers = [...all].filter((one) => one.startsWith('https:'))
  const found = await Promise.all(servers.map(check))
  return typeof listed === 'string'
    ? [...found, unknown(configured.join(), `its members cannot be listed: ${listed}`)]
    : found
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
