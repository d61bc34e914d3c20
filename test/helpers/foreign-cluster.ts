import {Agent, createServer, request} from 'node:https'
import type {IncomingHttpHeaders, IncomingMessage, ServerResponse} from 'node:http'
import type {AddressInfo} from 'node:net'
import {readFile, writeFile} from 'node:fs/promises'
import {join} from 'node:path'
import type {TLSSocket} from 'node:tls'
import {buildKubeconfig} from '../../src/client/kubeconfig-build.ts'
import {resolveAccess} from '../../src/client/kubeconfig-access.ts'
import {readKubeconfig} from '../../src/client/kubeconfig-files.ts'
import {formatKubeconfig} from '../../src/client/kubeconfig.ts'
import {parseCertificate, parseCertificateDer} from '../../src/pki/certificate.ts'
import {createIssuer, issueLeaf, type Issuer} from '../../src/pki/issuer.ts'
import {generateKeys, parsePrivateKey, privateKeyPem} from '../../src/pki/keys.ts'
import {NO_NAMES, namesOfHosts} from '../../src/pki/subject-names.ts'
import {hasNotes, withoutNotes} from './foreign-filter.ts'
import {startForeignPlane} from './foreign-plane.ts'

const DAY = 86_400_000
/** What only a server of trustadm serves: Machines, and its own paths. */
const HIDDEN = /^\/(?:apis|openapi\/v3\/apis)\/machine\.openshift\.io(?:\/|$)|^\/trustadm(?:\/|$)/
const MACHINES = 'machine.openshift.io'

export interface ForeignCluster {
  /** Of an administrator. */
  kubeconfig: string
  /** Of a user without rights. */
  nobody: string
  /** What the server behind had made for trustadm, and is gone: "Role kube-system/trustadm:node". */
  removed: readonly string[]
  stop(): Promise<void>
}

/**
 * A cluster that knows nothing of trustadm: its version is that of a kube-apiserver, it has no Machines, no roles, objects or controllers of
 * trustadm and nothing that kubeadm makes. It is a server of ours that has lost these, behind a front that hides what it serves beyond
 * Kubernetes, and that says who has come by a client certificate by impersonation.
 */
export async function startForeignCluster(): Promise<ForeignCluster> {
  const foreign = await startForeignPlane()
  const {cluster} = foreign.plane
  const pki = join(cluster.dir, 'pki')
  const ca = await readFile(join(pki, 'ca.crt'), 'utf8')
  const key = parsePrivateKey(await readFile(join(pki, 'ca.key'), 'utf8'))
  const issuer = createIssuer(parseCertificate(ca), key)
  const admin = join(cluster.dir, 'super-admin.conf')
  const {clientCertificate, server: url} = await resolveAccess(await readKubeconfig(admin))
  const behind: Behind = {
    url,
    admin: new Agent({
      ca,
      cert: clientCertificate?.certificate,
      key: clientCertificate?.key,
      keepAlive: true,
    }),
    plain: new Agent({ca, keepAlive: true}),
  }
  const serving = await issue(issuer, 'kube-apiserver', [], ['127.0.0.1', 'localhost'])
  const front = createServer(
    {cert: serving.certificate, key: serving.key, ca, requestCert: true, rejectUnauthorized: false},
    (incoming, outgoing) => forward(incoming, outgoing, behind),
  )
  await new Promise<void>((resolve) => front.listen(0, '127.0.0.1', resolve))
  const address = `https://127.0.0.1:${(front.address() as AddressInfo).port}`
  const kubeconfigOf = async (userName: string, groups: string[]) => {
    const file = join(cluster.dir, `${userName}.conf`)
    const credentials = await issue(issuer, userName, groups, [])
    const config = buildKubeconfig({server: address, ca, userName, credentials})
    await writeFile(file, formatKubeconfig(config), {mode: 0o600})
    return file
  }
  return {
    kubeconfig: await kubeconfigOf('operator', ['system:masters']),
    nobody: await kubeconfigOf('nobody', []),
    removed: foreign.removed,
    async stop() {
      front.closeAllConnections()
      await new Promise((resolve) => front.close(resolve))
      behind.admin.destroy()
      behind.plain.destroy()
      await foreign.stop()
    },
  }
}

async function issue(issuer: Issuer, commonName: string, groups: string[], hosts: string[]) {
  const keys = await generateKeys()
  const certificate = await issueLeaf(issuer, {
    subject: {commonName, organizations: groups},
    names: hosts.length > 0 ? namesOfHosts(hosts) : NO_NAMES,
    publicKey: keys.publicKey,
    usages: ['digital signature', hosts.length > 0 ? 'server auth' : 'client auth'],
    validity: {notBefore: new Date(Date.now() - DAY), notAfter: new Date(Date.now() + DAY)},
  })
  return {certificate, key: privateKeyPem(keys.privateKey)}
}

/** The real server, reached as an administrator who impersonates, or as whoever has a token. */
interface Behind {
  url: string
  admin: Agent
  plain: Agent
}

/** Who calls: as a certificate says; a bearer token is the server's own business; else nobody. */
function identityOf({socket, headers}: IncomingMessage): Record<string, string | string[]> {
  const peer = socket as TLSSocket
  const der = peer.authorized ? peer.getPeerX509Certificate()?.raw : undefined
  if (der) {
    const {commonName, organizations} = parseCertificateDer(der).subject
    const groups = [...organizations, 'system:authenticated']
    return {'impersonate-user': commonName, 'impersonate-group': groups}
  }
  if (headers.authorization !== undefined) return {}
  return {'impersonate-user': 'system:anonymous', 'impersonate-group': 'system:unauthenticated'}
}

function forward(incoming: IncomingMessage, outgoing: ServerResponse, behind: Behind): void {
  const path = incoming.url ?? '/'
  if (HIDDEN.test(path)) return answer(outgoing, 404, notFound())
  const who = identityOf(incoming)
  const {host: _, 'accept-encoding': _encoding, ...headers} = incoming.headers
  const target = new URL(path, behind.url)
  const isRead = isDocument(path) || hasNotes(path)
  const options = {
    method: incoming.method ?? 'GET',
    headers: {...headers, ...(isRead && {accept: asJson(path, headers)}), ...who},
    // A token must not come with the administrator's certificate.
    agent: 'impersonate-user' in who ? behind.admin : behind.plain,
  }
  const sent = request(target, options, (response) => {
    if (isDocument(path)) return void rewrite(response, outgoing, path)
    const {'content-length': length, ...others} = response.headers
    const isNoted = hasNotes(path)
    outgoing.writeHead(response.statusCode ?? 502, isNoted ? others : response.headers)
    if (isNoted && length !== '0') response.pipe(withoutNotes()).pipe(outgoing)
    else response.pipe(outgoing)
    response.on('error', () => outgoing.destroy())
  })
  sent.on('error', () => outgoing.destroy())
  outgoing.on('close', () => sent.destroy())
  incoming.pipe(sent)
}

/** What a client accepts of what is changed here: tables as well, but no protobuf. */
function asJson(path: string, {accept = ''}: IncomingHttpHeaders): string {
  const forms = isDocument(path) ? [] : accept.split(',')
  return forms.filter((form) => form.includes('json')).join() || 'application/json'
}

const isDocument = (path: string): boolean =>
  ['/version', '/apis', '/openapi/v3'].includes(path.split('?')[0] ?? '')

async function rewrite(
  response: IncomingMessage,
  outgoing: ServerResponse,
  path: string,
): Promise<void> {
  let text = ''
  for await (const chunk of response) text += String(chunk)
  const value = JSON.parse(text) as {
    gitVersion?: string
    groups?: {name: string}[]
    paths?: Record<string, object>
  }
  if (path.startsWith('/version')) value.gitVersion = value.gitVersion?.replace(/\+.*/, '') ?? ''
  if (value.groups) value.groups = value.groups.filter(({name}) => name !== MACHINES)
  if (value.paths) {
    const paths = Object.entries(value.paths).filter(([path]) => !path.includes(MACHINES))
    value.paths = Object.fromEntries(paths)
  }
  answer(outgoing, response.statusCode ?? 502, value)
}

function notFound(): object {
  return {
    kind: 'Status',
    apiVersion: 'v1',
    metadata: {},
    status: 'Failure',
    message: 'the server could not find the requested resource',
    reason: 'NotFound',
    details: {},
    code: 404,
  }
}

function answer(outgoing: ServerResponse, code: number, value: object): void {
  outgoing.writeHead(code, {'content-type': 'application/json'}).end(JSON.stringify(value))
}
