import type {CertificateSigningRequest} from '../../../src/api/certificates.ts'
import type {UserInfo} from '../../../src/api/meta.ts'
import type {ApiClient} from '../../../src/client/api-client.ts'
import type {ResourceType} from '../../../src/client/resource-client.ts'
import {toSecret} from '../../../src/bootstrap/token-secret.ts'
import {parseToken} from '../../../src/bootstrap/token.ts'
import {
  requestedCertificate,
  type RequestedCertificate,
} from '../../../src/csr/requested-certificate.ts'
import {createPlainRequest} from '../../../src/pki/create.ts'
import {extension} from '../../../src/pki/der-writer.ts'
import {generateKeys, type KeyPair} from '../../../src/pki/keys.ts'
import {OID} from '../../../src/pki/oids.ts'
import {NO_NAMES, encodeSubjectNames, type SubjectNames} from '../../../src/pki/subject-names.ts'
import type {Clock} from '../../../src/runtime.ts'
import {issueLeaf} from '../../../src/pki/issuer.ts'
import type {TestServer} from '../../helpers/test-server.ts'
import {SIGN, buildRequest} from '../../pki/request-builder.ts'

export const CLIENT = 'kubernetes.io/kube-apiserver-client-kubelet'
export const SERVING = 'kubernetes.io/kubelet-serving'
export const CLIENT_USAGES = ['key encipherment', 'digital signature', 'client auth']
export const SERVING_USAGES = ['key encipherment', 'digital signature', 'server auth']
const BOOTSTRAPPERS = 'system:bootstrappers:kubeadm:default-node-token'

export const BOOTSTRAPPER: UserInfo = {
  username: 'system:bootstrap:abcdef',
  groups: ['system:bootstrappers', BOOTSTRAPPERS, 'system:authenticated'],
}

/** Creates the token that the bootstrapper has authenticated with; it is good for an hour. */
export async function createBootstrapperToken(admin: ApiClient): Promise<void> {
  const token = parseToken('abcdef.0123456789abcdef')
  const expires = new Date(Date.now() + 3_600_000)
  const usages = {signing: false, authentication: true}
  await admin.secrets.create(toSecret({token, description: '', expires, usages, groups: []}))
}

export const nodeUser = (name: string): UserInfo => ({
  username: `system:node:${name}`,
  groups: ['system:nodes', 'system:authenticated'],
})

export interface Wish {
  name?: string
  signerName?: string
  commonName?: string
  organizations?: string[]
  names?: Partial<SubjectNames>
  usages?: string[]
  expirationSeconds?: number
  username?: string
  groups?: string[]
  keys?: KeyPair
}

let shared: Promise<KeyPair> | undefined

/** A request as a kubelet makes it, for node "foo" and by itself where nothing else is said. */
export async function wished(wish: Wish = {}): Promise<CertificateSigningRequest> {
  const {
    name = 'csr-1',
    signerName = CLIENT,
    commonName = 'system:node:foo',
    organizations = ['system:nodes'],
    names = {},
    usages = CLIENT_USAGES,
    username = 'system:node:foo',
    groups = ['system:nodes', 'system:authenticated'],
    keys = await (shared ??= generateKeys('ECDSA-P256')),
  } = wish
  const pem = await requestFor({commonName, organizations}, keys, {...NO_NAMES, ...names})
  const request = Buffer.from(pem).toString('base64')
  return {
    metadata: {name, uid: `uid-of-${name}`},
    spec: {request, signerName, usages, username, groups},
  }
}

/** As `createRequest` does, in a tenth of its time: the tables of cases make hundreds of requests. */
async function requestFor(
  {commonName, organizations}: {commonName: string; organizations: string[]},
  keys: KeyPair,
  names: SubjectNames,
): Promise<string> {
  const encoded = encodeSubjectNames(names)
  if (encoded === undefined) return createPlainRequest({commonName, organizations}, keys)
  const isRsa = keys.privateKey.asymmetricKeyType === 'rsa'
  return buildRequest(keys, {
    subject: [
      ...organizations.map((value) => ({oid: OID.organization, value})),
      ...(commonName === '' ? [] : [{oid: OID.commonName, value: commonName}]),
    ],
    extensions: [[extension(OID.subjectAltName, encoded)]],
    algorithm: isRsa ? SIGN.rsaSha256 : SIGN.ecdsaSha256,
  })
}

export function readable(csr: CertificateSigningRequest): RequestedCertificate {
  const requested = requestedCertificate(csr)
  if (requested === undefined) throw new Error('the request cannot be read')
  return requested
}

/** Sends what a kubelet would send; identity and metadata come from the server. */
export async function submit(
  client: Pick<ApiClient, 'csrs'>,
  wish: Wish,
): Promise<CertificateSigningRequest> {
  const {metadata, spec} = await wished(wish)
  const {request, signerName, usages = []} = spec
  const {expirationSeconds} = wish
  return await client.csrs.create({
    metadata: {name: metadata.name ?? ''},
    spec: {request, signerName, usages, ...(expirationSeconds && {expirationSeconds})},
  })
}

/** What `kubeadm init` binds, so that tokens and nodes may have client certificates. */
export async function bindApprovals(admin: ApiClient): Promise<void> {
  const bind = (name: string, role: string, group: string) =>
    admin.clusterRoleBindings.create({
      metadata: {name},
      subjects: [{kind: 'Group', apiGroup: 'rbac.authorization.k8s.io', name: group}],
      roleRef: {apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: role},
    })
  const prefix = 'system:certificates.k8s.io:certificatesigningrequests'
  await Promise.all([
    bind('test:bootstrap', 'system:node-bootstrapper', BOOTSTRAPPERS),
    bind('test:autoapprove', `${prefix}:nodeclient`, BOOTSTRAPPERS),
    bind('test:rotation', `${prefix}:selfnodeclient`, 'system:nodes'),
  ])
}

/** Signs an approved request as the signer would, for so many milliseconds. */
export async function sign(
  server: TestServer,
  admin: ApiClient,
  name: string,
  {keys, lifetime, clock}: {keys: KeyPair; lifetime: number; clock: Clock},
): Promise<void> {
  const csr = await admin.csrs.get(name)
  const {commonName} = readable(csr)
  const now = clock.now()
  const certificate = await issueLeaf(server.issuer, {
    subject: {commonName, organizations: ['system:nodes']},
    names: NO_NAMES,
    publicKey: keys.publicKey,
    usages: ['digital signature', 'client auth'],
    validity: {notBefore: now, notAfter: new Date(now.getTime() + lifetime)},
  })
  const status = {...csr.status, certificate: Buffer.from(certificate).toString('base64')}
  await admin.csrs.updateStatus({...csr, status})
}

/** As `init` writes it down: where approvers find the range of services. */
export const clusterConfig = {
  metadata: {namespace: 'kube-system', name: 'kubeadm-config'},
  data: {ClusterConfiguration: 'networking: {serviceSubnet: 10.96.0.0/12}\n'},
}

/** A client of a cluster whose API servers say where they are, as Kubernetes' own do. */
export const withEndpoints = (client: ApiClient, addresses: string[]): ApiClient => ({
  ...client,
  resource: ((type: ResourceType) =>
    type.plural === 'endpointslices'
      ? {
          list: () =>
            Promise.resolve({items: [{metadata: {name: 'kubernetes'}, endpoints: [{addresses}]}]}),
        }
      : client.resource(type)) as ApiClient['resource'],
})
