import {sign, verify} from 'node:crypto'
import {mkdtemp, rm} from 'node:fs/promises'
import {tmpdir} from 'node:os'
import {join} from 'node:path'
import {promisify} from 'node:util'
import type {UserInfo} from '../../src/api/meta.ts'
import type {CertificateSigningRequest} from '../../src/api/certificates.ts'
import type {ApiClient} from '../../src/client/api-client.ts'
import {InProcessTransport} from '../../src/client/in-process-transport.ts'
import {startController} from '../../src/controllers/kernel/controller.ts'
import {csrApproverController} from '../../src/controllers/csr-approver.ts'
import {csrSignerController} from '../../src/controllers/csr-signer.ts'
import {FileIssuanceLog} from '../../src/controllers/signing/file-issuance-log.ts'
import {isIssued} from '../../src/csr/conditions.ts'
import {nodeUser} from '../../src/csr/node-names.ts'
import {KUBELET_CLIENT, SIGNER_RULES} from '../../src/csr/signers.ts'
import {generateKeys} from '../../src/pki/keys.ts'
import {createPlainRequest} from '../../src/pki/create.ts'
import {systemClock} from '../../src/runtime.ts'
import {openLmdbStorage} from '../../src/storage/lmdb.ts'
import {ADMIN, startTestServer, type TestServer} from '../../test/helpers/test-server.ts'
import {milliseconds} from '../rows.ts'
import {serveCalls} from './calls.ts'

const AT_ONCE = 64
const YEAR = 365 * 86_400_000
const CONTROLLER: UserInfo = {
  username: 'system:serviceaccount:kube-system:certificate-controller',
  groups: ['system:serviceaccounts', 'system:serviceaccounts:kube-system', 'system:authenticated'],
}
/** Its requests are approved by the rules of the embedded plane. One for each run: none may make so many requests within an hour. */
const bootstrapper = (run: number): UserInfo => ({
  username: `system:bootstrap:${String(run).padStart(6, '0')}`,
  groups: ['system:bootstrappers', 'system:authenticated'],
})

const signAsync = promisify(sign)
const verifyAsync = promisify(verify)

let server: TestServer | undefined
let folder = ''

/** A server with a durable store and no controllers, so that each is started when it is to be measured. */
async function start(): Promise<void> {
  folder = await mkdtemp(join(tmpdir(), 'trustadm-bench-'))
  const storage = await openLmdbStorage(join(folder, 'store'))
  const audit = {path: join(folder, 'audit.log')}
  server = await startTestServer({storage, audit, controllers: false})
  const admin = server.clientAs(ADMIN)
  await admin.clusterRoleBindings.create({
    metadata: {name: 'bootstrappers'},
    roleRef: {
      apiGroup: 'rbac.authorization.k8s.io',
      kind: 'ClusterRole',
      name: 'system:certificates.k8s.io:certificatesigningrequests:nodeclient',
    },
    subjects: [
      {apiGroup: 'rbac.authorization.k8s.io', kind: 'Group', name: 'system:bootstrappers'},
    ],
  })
  await admin.clusterRoleBindings.create({
    metadata: {name: 'bootstrappers-ask'},
    roleRef: {
      apiGroup: 'rbac.authorization.k8s.io',
      kind: 'ClusterRole',
      name: 'system:node-bootstrapper',
    },
    subjects: [
      {apiGroup: 'rbac.authorization.k8s.io', kind: 'Group', name: 'system:bootstrappers'},
    ],
  })
}

async function inCrowd(count: number, one: (number: number) => Promise<unknown>): Promise<void> {
  let next = 0
  await Promise.all(
    Array.from({length: AT_ONCE}, async () => {
      while (next < count) await one(next++)
    }),
  )
}

let made = 0
let runs = 0

async function requests(count: number): Promise<CertificateSigningRequest[]> {
  const keys = await generateKeys('ECDSA-P256')
  const all: CertificateSigningRequest[] = []
  await inCrowd(count, async () => {
    const name = `node-${made++}`
    const subject = {commonName: nodeUser(name), organizations: ['system:nodes']}
    const request = Buffer.from(await createPlainRequest(subject, keys)).toString('base64')
    const usages = ['digital signature', 'client auth']
    all.push({metadata: {name}, spec: {request, signerName: KUBELET_CLIENT, usages}})
  })
  return all
}

interface Run {
  count: number
  /** Without it the requests are approved before, and only their signing is measured. */
  fromTheStart: boolean
}

/** How many milliseconds the controllers took until the last of so many requests had its certificate. */
async function signAll({count, fromTheStart}: Run): Promise<number> {
  const {clientAs, issuer, errors} = running()
  const [asker, admin, controller] = [bootstrapper(runs++), ADMIN, CONTROLLER].map((user) =>
    clientAs(user),
  )
  if (!asker || !admin || !controller) throw new Error('there are no clients')
  const wanted = await requests(count)
  const approve = async (csr: CertificateSigningRequest) => {
    const conditions = [{type: 'Approved', status: 'True' as const, reason: 'Bench'}]
    await admin.csrs.updateSubresource('approval', {...csr, status: {conditions}})
  }
  const ofEach = (one: (csr: CertificateSigningRequest) => Promise<unknown>) =>
    inCrowd(count, async (number) => {
      const csr = wanted[number]
      if (csr) await one(csr)
    })
  if (!fromTheStart) await ofEach(async (csr) => approve(await asker.csrs.create(csr)))

  const issuances = new FileIssuanceLog(join(folder, 'issuance.log'), systemClock)
  const signer = {rules: SIGNER_RULES[KUBELET_CLIENT], issuer, duration: YEAR}
  const signers = {current: new Map([[KUBELET_CLIENT, signer]]), subscribe: () => () => undefined}
  const signing = {signers, issuances, checksSignatures: false}
  const onError = (name: string, key: string, error: unknown) =>
    errors.push(`${name} ${key}: ${String(error)}`)
  const stopping = new AbortController()
  const certificates = fromTheStart ? await arrivals(admin, stopping.signal) : undefined
  const allIssued = fromTheStart ? undefined : await countIssued(count, stopping.signal)
  const began = performance.now()
  const controllers = [
    startController(csrSignerController(admin, controller, signing, {clock: systemClock}), onError),
    ...(fromTheStart
      ? [startController(csrApproverController(admin, controller, {clock: systemClock}), onError)]
      : []),
  ]
  // Whoever asks waits for the certificate, as a machine that joins.
  if (certificates) {
    await ofEach(async (csr) => {
      await asker.csrs.create(csr)
      await certificates.of(csr)
    })
  }
  await allIssued?.done
  const took = performance.now() - began
  stopping.abort()
  for (const one of controllers) await one.close()
  await issuances.close()
  // The next round finds as many as this one did.
  await admin.csrs.deleteCollection({})
  return took
}

/** Until so many certificates are published. The objects of the events are those that the signer reads too: nothing is decoded for this. */
async function countIssued(count: number, signal: AbortSignal): Promise<{done: Promise<void>}> {
  const transport = new InProcessTransport(running().handler, ADMIN)
  const path = '/apis/certificates.k8s.io/v1/certificatesigningrequests'
  const query = new URLSearchParams({watch: 'true'})
  const {metadata} = await running().clientAs(ADMIN).csrs.list({pageSize: 500})
  query.set('resourceVersion', metadata.resourceVersion ?? '')
  const {events = []} = await transport.stream({method: 'GET', path, query, signal})
  const follow = async () => {
    const issued = new Set<string>()
    for await (const batch of events) {
      const held = batch.flatMap((event) => ('held' in event ? [event.held] : []))
      for (const {key, object} of held)
        if (isIssued(object as CertificateSigningRequest)) issued.add(key)
      if (issued.size === count) return
    }
    throw new Error(`the watch ended after ${issued.size} of ${count} certificates`)
  }
  return {done: follow()}
}

/** Tells of certificates as they are issued, from now on. */
async function arrivals(client: ApiClient, signal: AbortSignal) {
  const issued = new Map<string, PromiseWithResolvers>()
  const slot = (name: string) => {
    const known = issued.get(name) ?? withResolvers()
    issued.set(name, known)
    return known
  }
  const {metadata} = await client.csrs.list({pageSize: 500})
  const follow = async () => {
    const {resourceVersion} = metadata
    for await (const {object} of client.csrs.watch({resourceVersion, signal}))
      if (isIssued(object)) slot(object.metadata.name ?? '').resolve()
  }
  follow().catch(() => undefined)
  return {of: ({metadata: {name = ''}}: CertificateSigningRequest) => slot(name).promise}
}

interface PromiseWithResolvers {
  promise: Promise<void>
  resolve: () => void
}

function withResolvers(): PromiseWithResolvers {
  let resolve: () => void = () => undefined
  const promise = new Promise<void>((done) => (resolve = done))
  return {promise, resolve}
}

/** What node:crypto takes for as many signatures, each made and checked once. */
async function signAndVerify(count: number): Promise<number> {
  const {privateKey, publicKey} = await generateKeys('ECDSA-P256')
  const content = Buffer.alloc(400, 'x')
  return await milliseconds(() =>
    inCrowd(count, async () => {
      const signature = await signAsync('sha256', content, privateKey)
      await verifyAsync('sha256', content, publicKey, signature)
    }),
  )
}

async function stop(): Promise<void> {
  const {errors} = running()
  await running().stop()
  await rm(folder, {recursive: true, force: true})
  if (errors.length > 0) throw new Error(`there were errors: ${errors.slice(0, 5).join('; ')}`)
}

function running(): TestServer {
  if (server === undefined) throw new Error('the server has not been started')
  return server
}

const operations = {start, signAll, signAndVerify, stop}
export type SigningOperations = typeof operations

serveCalls(operations)
