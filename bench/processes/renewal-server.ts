import {mkdtemp, rm} from 'node:fs/promises'
import {tmpdir} from 'node:os'
import {join} from 'node:path'
import type {UserInfo} from '../../src/api/meta.ts'
import {JOIN_RBAC} from '../../src/control-plane/init/rbac.ts'
import {csrApproverController} from '../../src/controllers/csr-approver.ts'
import {csrSignerController} from '../../src/controllers/csr-signer.ts'
import {startController} from '../../src/controllers/kernel/controller.ts'
import {FileIssuanceLog} from '../../src/controllers/signing/file-issuance-log.ts'
import {KUBELET_CLIENT, SIGNER_RULES} from '../../src/csr/signers.ts'
import {openLmdbStorage} from '../../src/storage/lmdb.ts'
import {constantly} from '../../src/trust/live.ts'
import {ADMIN, startTestServer, type TestServer} from '../../test/helpers/test-server.ts'
import {firstPair} from '../first-pair.ts'
import {serveCalls} from './calls.ts'

const HOUR = 3_600_000
const CONTROLLER: UserInfo = {
  username: 'system:serviceaccount:kube-system:certificate-controller',
  groups: ['system:serviceaccounts', 'system:serviceaccounts:kube-system', 'system:authenticated'],
}

let now = 0
const clock = {now: () => new Date(now)}
let server: TestServer | undefined
let folder = ''
let closing: (() => Promise<void>)[] = []

/** A durable server whose clock the benchmark sets, with what approves and signs renewals: certificates of one hour. */
async function start(time: number): Promise<{url: string; ca: string}> {
  now = time
  folder = await mkdtemp(join(tmpdir(), 'trustadm-bench-'))
  const storage = await openLmdbStorage(join(folder, 'store'))
  const audit = {path: join(folder, 'audit.log')}
  server = await startTestServer({storage, audit, clock, controllers: false})
  const {clientAs, issuer, errors, url, ca} = server
  const admin = clientAs(ADMIN)
  for (const {ensure} of JOIN_RBAC) await ensure(admin)
  const issuances = new FileIssuanceLog(join(folder, 'issuance.log'), clock)
  const signer = {rules: SIGNER_RULES[KUBELET_CLIENT], issuer, duration: HOUR}
  const signers = constantly(new Map([[KUBELET_CLIENT, signer]]))
  const signing = {signers, issuances, checksSignatures: false}
  const onError = (name: string, key: string, error: unknown) =>
    errors.push(`${name} ${key}: ${String(error)}`)
  const controllers = [
    csrSignerController(admin, clientAs(CONTROLLER), signing, {clock}),
    csrApproverController(admin, clientAs(CONTROLLER), {clock}),
  ].map((controller) => startController(controller, onError))
  closing = [...controllers.map((one) => () => one.close()), () => issuances.close()]
  return {url, ca}
}

/** The first certificates of nodes. */
function firstPairs(names: string[]) {
  const {issuer} = running()
  return Promise.all(names.map((name) => firstPair(name, issuer, clock.now(), HOUR)))
}

function setTime(time: number): Promise<void> {
  now = time
  return Promise.resolve()
}

/** Milliseconds of processor time so far. */
function processorTime(): Promise<number> {
  const {user, system} = process.cpuUsage()
  return Promise.resolve((user + system) / 1000)
}

async function stop(): Promise<void> {
  for (const close of closing) await close()
  const {errors} = running()
  await running().stop()
  await rm(folder, {recursive: true, force: true})
  if (errors.length > 0) throw new Error(`there were errors: ${errors.slice(0, 5).join('; ')}`)
}

function running(): TestServer {
  if (server === undefined) throw new Error('the server has not been started')
  return server
}

const operations = {start, firstPairs, setTime, processorTime, stop}
export type RenewalOperations = typeof operations

serveCalls(operations)
