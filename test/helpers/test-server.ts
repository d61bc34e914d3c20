import {randomUUID} from 'node:crypto'
import {aggregate} from '../../src/server/authz/rbac/aggregation.ts'
import type {UserInfo} from '../../src/api/meta.ts'
import {createApiClient, type ApiClient} from '../../src/client/api-client.ts'
import {InProcessTransport} from '../../src/client/in-process-transport.ts'
import {buildKubeconfig} from '../../src/client/kubeconfig-build.ts'
import {formatKubeconfig} from '../../src/client/kubeconfig.ts'
import {startControllers} from '../../src/controllers/index.ts'
import {requireAddressRange} from '../../src/pki/address-range.ts'
import {parseCertificate} from '../../src/pki/certificate.ts'
import {createAuthorityCertificate} from '../../src/pki/create.ts'
import {createIssuer, issueLeaf, type Issuer} from '../../src/pki/issuer.ts'
import {generateKeys, privateKeyPem} from '../../src/pki/keys.ts'
import {authorityValidity, validityFor} from '../../src/pki/lifetimes.ts'
import {systemClock, type Clock} from '../../src/runtime.ts'
import {startServer, type RunningServer, type ServerOptions} from '../../src/server/server.ts'
import {openMemoryStorage} from '../../src/storage/memory.ts'
import type {Storage} from '../../src/storage/storage.ts'
import {select} from '../../src/trust/live.ts'
import {testTrust, type TestTrust, type TrustParts} from './test-trust.ts'

const DAY = 86_400_000

export interface TestServer extends RunningServer {
  url: string
  ca: string
  issuer: Issuer
  setTrust: TestTrust['change']
  /** A kubeconfig's text for a user and groups, with a certificate of its own. */
  kubeconfigFor(commonName: string, organizations: string[]): Promise<string>
  credentialsFor(commonName: string, organizations: string[]): Promise<Credentials>
  clientAs(user: UserInfo): ApiClient
  errors: string[]
  stop(): Promise<void>
}

export interface Credentials {
  certificate: string
  key: string
}

export const ADMIN: UserInfo = {
  username: 'admin',
  groups: ['system:masters', 'system:authenticated'],
}

export type TestServerOptions = Partial<Omit<ServerOptions, 'trust'>> & {
  /** What differs from one CA for everything. */
  trust?: TrustParts
  controllers?: boolean
}

/** A whole server on loopback, on a port that the system picks, with a CA of its own. */
export async function startTestServer({
  trust: trustParts,
  controllers: hasControllers,
  ...options
}: TestServerOptions = {}): Promise<TestServer> {
  const clock: Clock = options.clock ?? systemClock
  const caKeys = await generateKeys('ECDSA-P256')
  const ca = await createAuthorityCertificate(
    {commonName: 'kubernetes'},
    caKeys,
    authorityValidity(clock.now(), 10 * DAY),
  )
  const issuer = createIssuer(parseCertificate(ca), caKeys.privateKey)
  const serving = await issue(issuer, clock, {commonName: 'kube-apiserver'}, 'server auth')
  const trust = await testTrust(ca, serving, trustParts)
  const errors: string[] = []
  const {storage = await usedStorage(options)} = options
  const server = await startServer({
    storage,
    host: '127.0.0.1',
    port: 0,
    advertiseAddress: '127.0.0.1',
    trust: trust.live,
    tokenIssuer: 'https://kubernetes.default.svc.cluster.local',
    serviceRange: requireAddressRange('10.96.0.0/12'),
    clock,
    onError: (message, error) => errors.push(`${message}: ${String(error)}`),
    ...options,
  })
  if (isLikeOthers(options)) await keepSystemObjects(storage)
  const certificate = parseCertificate(serving.certificate)
  const clients: ApiClient[] = []
  const clientAs = (user: UserInfo, userAgent = 'test') => {
    const transport = new InProcessTransport(server.handler, user, () => certificate.der)
    const client = createApiClient(transport, {userAgent})
    clients.push(client)
    return client
  }
  const controllers =
    hasControllers === false
      ? undefined
      : startControllers({
          reader: clientAs(
            {username: 'system:kube-controller-manager', groups: ['system:authenticated']},
            'kube-controller-manager',
          ),
          writer: (name) => clientAs(serviceAccount(name), 'kube-controller-manager'),
          rootCa: select(trust.live, ({bundles}) => bundles['api-server'].pem),
          aggregate,
          ownership: server.ownership,
          clock,
          onError: (name, key, error) => errors.push(`${name} ${key}: ${String(error)}`),
        })
  await controllers?.synced
  const url = `https://127.0.0.1:${server.port}`
  const credentialsFor = (commonName: string, organizations: string[]) =>
    issue(issuer, clock, {commonName, organizations}, 'client auth')
  return {
    ...server,
    url,
    ca,
    issuer,
    setTrust: trust.change,
    errors,
    clientAs,
    credentialsFor,
    async kubeconfigFor(commonName, organizations) {
      const credentials = await credentialsFor(commonName, organizations)
      return formatKubeconfig(buildKubeconfig({server: url, ca, userName: commonName, credentials}))
    },
    async stop() {
      await controllers?.close()
      await Promise.all(clients.map((client) => client.close()))
      await server.close(1000)
      await storage.close()
    },
  }
}

/** Whether the objects that a server creates at its first start are those of the others. */
const isLikeOthers = ({storage, clock, serviceRange}: TestServerOptions): boolean =>
  storage === undefined && clock === undefined && serviceRange === undefined

/** What the first server of this process has created, which costs more than all else of its start. */
let systemObjects: {key: string; object: string}[] | undefined

async function keepSystemObjects(storage: Storage): Promise<void> {
  if (systemObjects !== undefined) return
  const {entries} = await storage.list('')
  systemObjects = entries.map(({key, value}) => ({key, object: Buffer.from(value).toString()}))
}

/** A store in memory, as after the first start of another server: the next one corrects what is its own. Each has UIDs of its own. */
async function usedStorage(options: TestServerOptions): Promise<Storage> {
  const storage = openMemoryStorage()
  if (!isLikeOthers(options)) return storage
  for (const {key, object} of systemObjects ?? []) {
    const own = object.replace(/"uid":"[^"]+"/, () => `"uid":"${randomUUID()}"`)
    await storage.create(key, Buffer.from(own))
  }
  return storage
}

const serviceAccount = (name: string): UserInfo => ({
  username: `system:serviceaccount:kube-system:${name}`,
  groups: ['system:serviceaccounts', 'system:serviceaccounts:kube-system', 'system:authenticated'],
})

async function issue(
  issuer: Issuer,
  clock: Clock,
  subject: {commonName: string; organizations?: string[]},
  usage: 'client auth' | 'server auth',
): Promise<Credentials> {
  const {privateKey, publicKey} = await generateKeys('ECDSA-P256')
  const names = {dns: ['localhost'], ips: ['127.0.0.1'], emails: [], uris: []}
  const certificate = await issueLeaf(issuer, {
    subject,
    names: usage === 'server auth' ? names : {dns: [], ips: [], emails: [], uris: []},
    publicKey,
    usages: ['digital signature', usage],
    validity: validityFor(clock.now(), DAY, issuer.certificate.notAfter),
  })
  return {certificate, key: privateKeyPem(privateKey)}
}
