import {mkdtemp, rm} from 'node:fs/promises'
import {tmpdir} from 'node:os'
import {join} from 'node:path'
import type {CertificateSigningRequest} from '../../src/api/certificates.ts'
import {clusterInfoConfigMap, jwsKey, type ClusterInfo} from '../../src/bootstrap/cluster-info.ts'
import {describeToken} from '../../src/bootstrap/token-info.ts'
import {toSecret} from '../../src/bootstrap/token-secret.ts'
import {formatToken, type BootstrapToken} from '../../src/bootstrap/token.ts'
import type {ApiClient} from '../../src/client/api-client.ts'
import {JOIN_RBAC} from '../../src/control-plane/init/rbac.ts'
import {hasCode} from '../../src/errors.ts'
import type {JoinRequest} from '../../src/node/join/join.ts'
import type {JoinSettings} from '../../src/node/join/phase.ts'
import {parseCertificate} from '../../src/pki/certificate.ts'
import {issueFromRequest} from '../../src/pki/issuer.ts'
import {pinOf} from '../../src/pki/pins.ts'
import {parseRequest} from '../../src/pki/request.ts'
import {systemClock} from '../../src/runtime.ts'
import {independentJws} from '../helpers/jws.ts'
import {ADMIN, startTestServer, type TestServer} from '../helpers/test-server.ts'
import {until} from '../server/support.ts'

export const TOKEN: BootstrapToken = {id: 'k3v8q1', secret: 'u7zq2m9x4c6b1n8w'}
export const TOKEN_TEXT = formatToken(TOKEN)
const HOUR = 3_600_000

/** A cluster that machines can join: cluster-info, a token and the rights of its holders. Nobody decides on requests by himself. */
export interface JoinableCluster extends TestServer {
  admin: ApiClient
  /** `host:port`. */
  endpoint: string
  pin: string
  /** What is needed to join, with a folder and a name of its own. */
  settings: (dir: string, nodeName: string, more?: Partial<JoinSettings>) => JoinSettings
  /** Publishes another cluster-info, signed with the token. */
  publish: (info: ClusterInfo) => Promise<void>
  approve: (name: string) => Promise<void>
  deny: (name: string, reason: string, message: string) => Promise<void>
  fail: (name: string, reason: string, message: string) => Promise<void>
  /** Approves and signs; `certificate` in place of the one that was asked for. */
  issue: (name: string, certificate?: string) => Promise<string>
  /** Issues whatever is asked for, or only what of it is wanted, until it is stopped. */
  issueAll: (isWanted?: (csr: CertificateSigningRequest) => boolean) => {stop: () => Promise<void>}
  /** The name of the first request, as soon as there is one. */
  firstRequest: () => Promise<string>
}

export async function startJoinableCluster(): Promise<JoinableCluster> {
  const server = await startTestServer({controllers: false})
  const admin = server.clientAs(ADMIN)
  const signedInfo = (published: ClusterInfo) => {
    const info = clusterInfoConfigMap(published)
    const kubeconfig = info.data?.kubeconfig ?? ''
    const signature = independentJws(kubeconfig, TOKEN)
    return {...info, data: {...info.data, [jwsKey(TOKEN.id)]: signature}}
  }
  const {namespaces, configMaps, secrets, csrs} = admin
  if (!(await namespaces.find('kube-public'))) {
    await namespaces.create({metadata: {name: 'kube-public'}})
  }
  await configMaps.create(signedInfo({server: server.url, ca: server.ca}))
  await secrets.create(toSecret(describeToken(TOKEN, {}, systemClock.now())))
  for (const {ensure} of JOIN_RBAC) await ensure(admin)
  await lastRightIsKnown(server)

  const pin = pinOf(parseCertificate(server.ca))
  const endpoint = new URL(server.url).host
  const condition = (type: string, reason: string, message: string) => ({
    type,
    status: 'True' as const,
    reason,
    message,
  })
  const decide = async (name: string, type: string, reason: string, message: string) => {
    const csr = await csrs.get(name)
    const conditions = [...(csr.status?.conditions ?? []), condition(type, reason, message)]
    await csrs.updateSubresource('approval', {...csr, status: {...csr.status, conditions}})
  }
  const approve = (name: string) => decide(name, 'Approved', 'TestApproved', 'approved by a test')
  const sign = (csr: CertificateSigningRequest) => {
    const request = parseRequest(Buffer.from(csr.spec.request, 'base64').toString())
    const now = systemClock.now().getTime()
    return issueFromRequest(server.issuer, request, {
      usages: csr.spec.usages ?? [],
      validity: {notBefore: new Date(now - HOUR), notAfter: new Date(now + HOUR)},
    })
  }
  const issue = async (name: string, certificate?: string) => {
    await approve(name)
    const csr = await csrs.get(name)
    const pem = certificate ?? (await sign(csr))
    const encoded = Buffer.from(pem).toString('base64')
    await csrs.updateStatus({...csr, status: {...csr.status, certificate: encoded}})
    return pem
  }
  const firstRequest = async () => {
    for await (const {object} of csrs.watch()) return object.metadata.name ?? ''
    throw new Error('the watch ended')
  }
  return {
    ...server,
    admin,
    endpoint,
    pin,
    settings: (dir, nodeName, more = {}) => ({
      dir,
      nodeName,
      discovery: {endpoints: [endpoint], token: TOKEN_TEXT, caCertHashes: [pin]},
      token: TOKEN_TEXT,
      discoveryTimeout: 0,
      certificateTimeout: 10_000,
      ...more,
    }),
    publish: async (info) => {
      await configMaps.update(signedInfo(info))
    },
    approve,
    deny: (name, reason, message) => decide(name, 'Denied', reason, message),
    fail: async (name, reason, message) => {
      const csr = await csrs.get(name)
      const conditions = [...(csr.status?.conditions ?? []), condition('Failed', reason, message)]
      await csrs.updateStatus({...csr, status: {...csr.status, conditions}})
    },
    issue,
    issueAll: (isWanted = () => true) => {
      const over = new AbortController()
      const work = (async () => {
        for await (const {type, object} of csrs.watch({signal: over.signal})) {
          if (type === 'ADDED' && !object.status?.conditions && isWanted(object))
            await issue(object.metadata.name ?? '')
        }
      })().catch((error: unknown) => {
        if (!over.signal.aborted && !hasCode(error, 'NOT_FOUND')) throw error
      })
      return {
        stop: async () => {
          over.abort()
          await work
        },
      }
    },
    firstRequest,
  }
}

/** A run of join, with all that it says. */
export function joinRequest(settings: JoinSettings): JoinRequest & {lines: string[]} {
  const lines: string[] = []
  const say = (line: string) => void lines.push(line)
  return {settings, clock: systemClock, tell: say, note: say, warn: say, environment: {}, lines}
}

/** A folder for each test, gone after it. */
export function useFolder(): () => string {
  let folder = ''
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'trustadm-node-'))
  })
  afterEach(() => rm(folder, {recursive: true, force: true}))
  return () => folder
}

/** The server learns of rights by events, in their order. */
async function lastRightIsKnown(server: TestServer): Promise<void> {
  const node = server.clientAs({username: 'system:node:any', groups: ['system:nodes']})
  const resourceAttributes = {
    verb: 'create',
    group: 'certificates.k8s.io',
    resource: 'certificatesigningrequests',
    subresource: 'selfnodeclient',
  }
  await until(async () => {
    const review = {metadata: {}, spec: {resourceAttributes}}
    const {status} = await node.selfSubjectAccessReviews.create(review)
    return status?.allowed === true
  })
}
