import {rm} from 'node:fs/promises'
import {dirname} from 'node:path'
import {isOwnServer, type ApiClient} from '../../client/api-client.ts'
import {connectTo} from '../../client/connect.ts'
import {buildKubeconfig, type KubeconfigCredentials} from '../../client/kubeconfig-build.ts'
import {formatKubeconfig} from '../../client/kubeconfig.ts'
import type {ServerAccess} from '../../client/server-access.ts'
import {
  type BootstrapCredential,
  certificateId,
  readCredentials,
} from '../../controllers/approval/bootstrap-credentials.ts'
import {
  BOOTSTRAPPER,
  bootstrapperGroups,
  bootstrapperUser,
  secretCredential,
  secretText,
} from '../../csr/bootstrapper.ts'
import {hasCode, TrustError} from '../../errors.ts'
import {lookAt} from '../../fs/file-checks.ts'
import {writeFileSafely} from '../../fs/files.ts'
import {requireSafeFolder} from '../../fs/folders.ts'
import {BOOTSTRAP_SIGNER} from '../../pki/catalog.ts'
import {parseCertificate} from '../../pki/certificate.ts'
import {createAuthorityCertificate} from '../../pki/create.ts'
import {createIssuer, issueLeaf} from '../../pki/issuer.ts'
import {generateKeys, privateKeyPem} from '../../pki/keys.ts'
import {authorityValidity, validityFor} from '../../pki/lifetimes.ts'
import {NO_NAMES} from '../../pki/subject-names.ts'
import {type Clock, sleep} from '../../runtime.ts'
import {deleteToken, ensureBootstrapper, ensureToken, excessOf} from './account.ts'
import {changeBundle} from './bundle-map.ts'
import {rememberedCredentials} from './remembered.ts'

export interface CreateOptions {
  kind: BootstrapCredential['kind']
  namespace: string
  /** Where the kubeconfig is written; undefined: it is part of the result. */
  file?: string | undefined
  tell: (line: string) => void
  warn: (line: string) => void
  clock: Clock
}

export interface CreatedCredential extends BootstrapCredential {
  /** False if a token was there already and is handed out again. */
  isNew: boolean
  /** Whether the API server accepts it. */
  accepted: boolean
  file: string | null
  /** Absent if it was written to a file. */
  kubeconfig?: string
}

interface Cluster {
  client: ApiClient
  access: ServerAccess
}

/** What a kubeconfig is made of, and how the credential becomes valid once the kubeconfig is safe. */
interface Prepared {
  credentials: KubeconfigCredentials
  isNew: boolean
  id: (live: readonly BootstrapCredential[]) => BootstrapCredential | undefined
  publish: () => Promise<void>
}

const kubeconfigOf = ({server, ca, tlsServerName}: ServerAccess, made: KubeconfigCredentials) =>
  formatKubeconfig(
    buildKubeconfig({server, ca, tlsServerName, userName: BOOTSTRAPPER, credentials: made}),
  )

async function prepareCertificate(
  {client}: Cluster,
  {namespace, clock}: CreateOptions,
): Promise<Prepared> {
  const {authority, certificate, key} = await createBootstrapCertificate(namespace, clock)
  const added = {authority: parseCertificate(authority), leaf: parseCertificate(certificate)}
  const id = certificateId(added)
  return {
    credentials: {certificate, key},
    isNew: true,
    id: (live) => live.find((one) => one.id === id),
    publish: () => changeBundle(client, namespace, (found) => [...found, added]),
  }
}

/** A revoked token that was applied again from a copy is replaced. */
async function validToken(client: ApiClient, namespace: string, clock: Clock) {
  const ensured = await ensureToken(client, namespace, clock)
  const credential = secretCredential(ensured.secret)
  const revoked = await rememberedCredentials(client)
  if (credential === undefined || !revoked.some((one) => one.credential === credential))
    return ensured
  await deleteToken(client, namespace)
  return await ensureToken(client, namespace, clock)
}

async function prepareToken(
  {client}: Cluster,
  {namespace, clock}: CreateOptions,
): Promise<Prepared> {
  const {secret, isNew} = await validToken(client, namespace, clock)
  return {
    credentials: {token: secretText(secret, 'token')},
    isNew,
    id: (live) => live.find(({kind}) => kind === 'token'),
    publish: () => Promise.resolve(),
  }
}

const MAY_ASK = {
  metadata: {},
  spec: {
    resourceAttributes: {
      group: 'certificates.k8s.io',
      resource: 'certificatesigningrequests',
      verb: 'create',
    },
  },
}
const ATTEMPTS = 20
const POLL = 100

/** Whether the server accepts it and lets it ask for a certificate. Other servers may need a moment to follow. */
async function isAccepted(access: ServerAccess, made: KubeconfigCredentials): Promise<boolean> {
  const {server, ca, tlsServerName, insecure, proxyUrl} = access
  const credential =
    'token' in made
      ? {bearerToken: () => Promise.resolve(made.token)}
      : 'certificate' in made
        ? {clientCertificate: made}
        : {}
  const client = connectTo({server, ca, tlsServerName, insecure, proxyUrl, ...credential})
  try {
    for (let attempt = 1; attempt <= ATTEMPTS; attempt += 1) {
      try {
        const {status} = await client.selfSubjectAccessReviews.create(MAY_ASK)
        if (status?.allowed) return true
      } catch (error) {
        if (!hasCode(error, 'UNAUTHORIZED')) throw error
      }
      await sleep(POLL)
    }
    return false
  } finally {
    await client.close()
  }
}

const REFUSED = {
  certificate:
    'the API server does not accept this certificate: a kube-apiserver trusts it only if the bundle in the ConfigMap is part of its --client-ca-file; use --kind token there',
  token: 'the API server does not accept this token; check that its service account keys are right',
}

/** What would fail later fails before anything is written to the cluster. */
async function requireFree(file: string): Promise<void> {
  await requireSafeFolder(dirname(file))
  if (!(await lookAt(file))) return
  throw new TrustError('ALREADY_EXISTS', `${file} exists already`, {
    hints: ['choose another file with --out, or move this one away'],
    facts: {file},
  })
}

/** Only trustadm's server follows the ConfigMap: elsewhere a CA that is new can be in no --client-ca-file. */
async function requireKind(client: Pick<ApiClient, 'version'>, kind: CreateOptions['kind']) {
  if (kind === 'token' || (await isOwnServer(client))) return
  throw new TrustError(
    'USAGE',
    "this cluster's API server does not accept certificates of bootstrap credentials: only trustadm's own server does",
    {hints: ['use --kind token; nothing was created']},
  )
}

/** Creates a bootstrap credential, or hands out the existing token again. The kubeconfig is on the disk before the credential becomes valid. */
export async function createCredential(
  cluster: Cluster,
  options: CreateOptions,
): Promise<CreatedCredential> {
  const {kind, namespace, file, tell, warn} = options
  await requireKind(cluster.client, kind)
  if (file !== undefined) await requireFree(file)
  await ensureBootstrapper(cluster.client, namespace, tell)
  const prepare = kind === 'certificate' ? prepareCertificate : prepareToken
  const {credentials, isNew, id, publish} = await prepare(cluster, options)
  const kubeconfig = kubeconfigOf(cluster.access, credentials)
  if (file !== undefined) await writeFileSafely(file, kubeconfig)
  try {
    await publish()
  } catch (error) {
    if (file !== undefined) await rm(file, {force: true})
    throw error
  }
  const found = id(await readCredentials(cluster.client, namespace))
  if (found === undefined) {
    throw new TrustError('CONFLICT', 'the credential was revoked while it was being created')
  }
  const accepted = await isAccepted(cluster.access, credentials)
  if (!accepted) warn(REFUSED[kind])
  const excess = await excessOf(cluster.client, namespace)
  if (excess !== undefined) warn(excess)
  return {...found, isNew, accepted, file: file ?? null, ...(file === undefined && {kubeconfig})}
}

const DAY = 86_400_000
/** Ten years. */
const CREDENTIAL_LIFETIME = 3650 * DAY

/** All as PEM. */
export interface BootstrapCertificate {
  authority: string
  certificate: string
  key: string
}

/**
 * A certificate for the node bootstrapper of a namespace, with a CA of its own: each credential can be revoked alone. The CA's key signs this one certificate
 * and is not kept, so nobody can make a second one.
 */
export async function createBootstrapCertificate(
  namespace: string,
  clock: Clock,
  lifetime: number = CREDENTIAL_LIFETIME,
): Promise<BootstrapCertificate> {
  const now = clock.now()
  const signer = await generateKeys()
  const {commonName, usages} = BOOTSTRAP_SIGNER
  const authority = await createAuthorityCertificate(
    {commonName},
    signer,
    authorityValidity(now, lifetime + DAY),
  )
  const issuer = createIssuer(parseCertificate(authority), signer.privateKey)
  const keys = await generateKeys()
  const certificate = await issueLeaf(issuer, {
    subject: {
      commonName: bootstrapperUser(namespace),
      organizations: bootstrapperGroups(namespace),
    },
    names: NO_NAMES,
    publicKey: keys.publicKey,
    usages,
    validity: validityFor(now, lifetime, issuer.certificate.notAfter),
    // In OpenShift's namespace it has 73 characters.
    allowsLongName: true,
  })
  return {authority, certificate, key: privateKeyPem(keys.privateKey)}
}
