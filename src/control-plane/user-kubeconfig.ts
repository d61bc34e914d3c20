import {buildKubeconfig} from '../client/kubeconfig-build.ts'
import {formatKubeconfig} from '../client/kubeconfig.ts'
import {FileIssuanceLog} from '../controllers/signing/file-issuance-log.ts'
import {issuedByCommand} from '../controllers/signing/issuance.ts'
import {asCommand} from '../controllers/signing/log-turns.ts'
import {TrustError} from '../errors.ts'
import {lockHolder} from '../fs/folder-lock.ts'
import {ensureFolder} from '../fs/folders.ts'
import {requireCurrent, requireIssuer} from '../pki/authority.ts'
import {parseCertificate, type Certificate} from '../pki/certificate.ts'
import {issueLeaf} from '../pki/issuer.ts'
import {generateKeys, privateKeyPem} from '../pki/keys.ts'
import {validityFor} from '../pki/lifetimes.ts'
import {NO_NAMES} from '../pki/subject-names.ts'
import type {Clock} from '../runtime.ts'
import {CLIENT_CA, CLUSTER_CA, findAuthority} from './certificates.ts'
import {certDirOf, endpointOf, fileOf, type Plane} from './config/plane.ts'

export interface UserOptions {
  /** The common name of the certificate: the user's name to the server. */
  name: string
  /** The organizations of the certificate: the user's groups. */
  groups: readonly string[]
  /** In milliseconds; by default that of the control plane's own certificates. */
  lifetime?: number | undefined
  /** Instead of a certificate. */
  token?: string | undefined
  /** Whether the control plane is one of kubeadm's, which has no issuance log and no list of revoked certificates. */
  isKubeadm?: boolean | undefined
}

/** Names that the server could never match with a rule, or that a log could not show. */
function requireUsableNames(name: string, groups: readonly string[]): void {
  const isPlain = (text: string) => text.trim() === text && text !== '' && !/\p{Cc}/u.test(text)
  if (isPlain(name) && groups.every(isPlain)) return
  throw new TrustError('USAGE', 'the name of a user or group is empty, or has invalid characters', {
    hints: ['remove line breaks, control characters and spaces around the name'],
  })
}

/** Warnings about these names. */
export function warningsFor({groups}: Pick<UserOptions, 'groups'>): string[] {
  return groups.includes('system:masters')
    ? [
        'members of system:masters may do everything, regardless of RBAC, until the certificate expires',
      ]
    : []
}

/** Without a line of the log, the certificate could be revoked only by whoever has its file. The server may write to the log at the same time. */
async function record(plane: Plane, pem: string, issuer: Certificate, clock: Clock): Promise<void> {
  const path = fileOf(plane, 'issuances')
  await ensureFolder(fileOf(plane, 'logs'))
  const isServing = async () => (await lockHolder(fileOf(plane, 'store'))) !== undefined
  await ensureFolder(fileOf(plane, 'lock'))
  await asCommand(fileOf(plane, 'issuanceLock'), isServing, async () => {
    const log = new FileIssuanceLog(path, clock, fileOf(plane, 'issuanceKey'))
    try {
      await log.append(issuedByCommand('trustadm kubeconfig user', parseCertificate(pem), issuer))
    } finally {
      await log.close()
    }
  })
}

/** A kubeconfig for a user, with a certificate of the cluster's CA, as `kubeadm kubeconfig user` prints it. */
export async function userKubeconfig(
  plane: Plane,
  {name, groups, lifetime, token, isKubeadm = false}: UserOptions,
  clock: Clock,
): Promise<string> {
  const authority = await findAuthority(plane, CLUSTER_CA)
  if (!authority) {
    throw new TrustError('NOT_FOUND', `there is no CA in ${certDirOf(plane)}`, {
      hints: ['set up the control plane with "trustadm init" first'],
    })
  }
  const about = {
    server: endpointOf(plane),
    ca: authority.bundlePem,
    clusterName: plane.settings.clusterName,
    userName: name,
  }
  requireUsableNames(name, groups)
  if (token !== undefined) {
    return formatKubeconfig(buildKubeconfig({...about, credentials: {token}}))
  }
  const signing = (await findAuthority(plane, CLIENT_CA)) ?? authority
  requireCurrent(signing, clock.now())
  const issuer = requireIssuer(signing, name)
  const {settings} = plane
  const keys = await generateKeys(settings.keyAlgorithm)
  const certificate = await issueLeaf(issuer, {
    subject: {commonName: name, organizations: [...groups]},
    names: NO_NAMES,
    publicKey: keys.publicKey,
    usages: ['digital signature', 'client auth'],
    validity: validityFor(
      clock.now(),
      lifetime ?? settings.certificateValidityPeriod,
      signing.certificate.notAfter,
    ),
  })
  if (!isKubeadm) await record(plane, certificate, signing.certificate, clock)
  const credentials = {certificate, key: privateKeyPem(keys.privateKey)}
  return formatKubeconfig(buildKubeconfig({...about, credentials}))
}
