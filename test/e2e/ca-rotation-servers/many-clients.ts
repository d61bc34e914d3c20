import assert from 'node:assert/strict'
import {connectTo} from '../../../src/client/connect.ts'
import type {ServerAccess} from '../../../src/client/server-access.ts'
import type {RotationReport} from '../../../src/control-plane/ca-rotation/report.ts'
import {requestCertificate} from '../../../src/node/certificate-manager/request-certificate.ts'
import {clientCertificate} from '../../../src/node/client-certificate.ts'
import {parseCertificate} from '../../../src/pki/certificate.ts'
import {generateKeys} from '../../../src/pki/keys.ts'
import {systemClock} from '../../../src/runtime.ts'
import {eventually} from '../../controllers/signing/support.ts'
import {LiveClients} from '../../helpers/live-clients.ts'
import {rotateIn} from '../../helpers/rotating.ts'

/** Of all servers together: 500, with those that join and renew. */
const COUNTS = {http1Watches: 144, http2Watches: 144, keepAlive: 144, newConnections: 48}
const [JOINERS, RENEWERS] = [10, 10]
/** Milliseconds between two joins or renewals of one client: a node may ask for 60 certificates in an hour. Several servers take longer. */
const pauseFor = (servers: number): number => (servers === 1 ? 2000 : 4000)

/** A server, as the administrator of its machine reaches it. */
interface RotatingServer {
  dir: string
  access(): Promise<ServerAccess>
}

interface RotatingPlane {
  servers: RotatingServer[]
  /** Machines join with it. */
  token: string
  stop(): Promise<void>
  /** What else is true in the end. */
  check?(): Promise<void>
}

interface Pair {
  certificatePem: string
  keyPem: string
}

/** Machines without a Node, which are gone or have renewed, and old copies of admin.conf: an operator has to say so. */
const KNOWN = ['unregistered-nodes', 'replaced-here', 'kubernetes-admin', 'kubernetes-super-admin']
const IGNORING = ['--ignore', KNOWN.join()]
const isKnown = ({dependents}: RotationReport): boolean =>
  dependents.every(({name, group}) => KNOWN.includes(group ?? name))

/** Tests rotations of a control plane with one or more servers while 500 clients work; some join and renew, at another server each time. */
export function itKeepsClientsAtWork(start: () => Promise<RotatingPlane>): void {
  let plane: RotatingPlane
  let running: LiveClients[]
  /** Those of the machines that renew. */
  const certificates = new Map<string, Pair>()
  let turn = 0

  beforeEach(async () => {
    running = []
    certificates.clear()
    plane = await start()
  })
  afterEach(async () => {
    await stopClients()
    await plane.stop()
  })

  const server = (index: number): RotatingServer =>
    plane.servers[index % plane.servers.length] ?? assert.fail()
  const rotate = (index: number, action: string, ...more: string[]) =>
    rotateIn(server(index).dir, action, ...more)
  const report = async () => (await rotate(1, 'status')).report()

  /** A certificate for a node, by the token or by the certificate that it has. */
  const obtain = async (name: string, own?: Pair): Promise<Pair> => {
    const {server: url, ca} = await server((turn += 1)).access()
    const credentials = own
      ? {clientCertificate: {certificate: own.certificatePem, key: own.keyPem}}
      : {bearerToken: () => Promise.resolve(plane.token)}
    const client = connectTo({server: url, ca, ...credentials}, {retry: {attempts: 1}})
    try {
      const how = {clock: systemClock}
      return await requestCertificate(client, clientCertificate(name), await generateKeys(), how)
    } finally {
      await client.close()
    }
  }
  const startClients = async () => {
    while (certificates.size < RENEWERS) {
      const name = `renewer-${(turn += 1)}`
      certificates.set(name, await obtain(name))
    }
    const share = (count: number) => count / plane.servers.length
    const counts = {
      http1Watches: share(COUNTS.http1Watches),
      http2Watches: share(COUNTS.http2Watches),
      keepAlive: share(COUNTS.keepAlive),
      newConnections: share(COUNTS.newConnections),
    }
    running = await Promise.all(
      plane.servers.map((one) => LiveClients.start(counts, () => one.access())),
    )
    const [first = assert.fail()] = running
    const pause = pauseFor(plane.servers.length)
    for (const name of certificates.keys()) {
      first.repeat('renewal', pause, async () => {
        certificates.set(name, await obtain(name, certificates.get(name)))
      })
    }
    for (let one = 0; one < JOINERS; one++) {
      first.repeat('join', pause, async () => {
        await obtain(`joiner-${(turn += 1)}`)
      })
    }
  }
  const stopClients = () => Promise.all(running.map((one) => one.stop()))
  const issuers = () =>
    [...certificates.values()].map(
      ({certificatePem}) => parseCertificate(certificatePem).issuer.commonName,
    )
  const untilIssuers = (isRight: (name: string) => boolean) =>
    eventually(() => Promise.resolve(issuers().every(isRight)))

  /** Every watch, at whichever server, still delivers what happens now at one of them. */
  const requireWatching = async (name: string) => {
    const client = connectTo(await server(0).access())
    await client.configMaps.create({metadata: {name, namespace: 'default'}})
    await client.close()
    const watches = running.flatMap((one) => one.watches)
    assert.equal(watches.length, COUNTS.http1Watches + COUNTS.http2Watches)
    await eventually(() => Promise.resolve(watches.every((seen) => seen.has(name))))
  }
  /** Stops them. Nothing has failed. */
  const requireUnharmed = async () => {
    for (const {failures} of running) assert.deepEqual(failures, [])
    const answered = running.map((one) => one.answered)
    assert.ok(Math.min(...answered) > 500 / running.length, String(answered))
    await stopClients()
  }
  const begin = async () => {
    await startClients()
    const before = new Set(issuers())
    const started = await rotate(0, 'start', '--yes')
    assert.equal(started.code, 0, started.stderr)
    const isNew = (name: string) => name.startsWith('kubernetes-client-ca@') && !before.has(name)
    await untilIssuers(isNew)
    return before
  }

  it('start and abort fail no request and cut no watch', async () => {
    const before = await begin()
    const begun = await rotate(1, 'abort', '--yes')
    assert.ok([0, 5].includes(begun.code), begun.stderr)
    await untilIssuers((name) => before.has(name))
    const aborted =
      begun.code === 0 ? begun : await rotate(1, 'abort', '--yes', '--wait', ...IGNORING)
    assert.equal(aborted.code, 0, aborted.stderr)
    await requireWatching('after-abort')
    await requireUnharmed()
    assert.equal((await report()).action, undefined)
    await plane.check?.()
  })

  it('start and complete fail no request and cut no watch', async () => {
    await begin()
    await requireWatching('after-start')
    await requireUnharmed()

    // People and programs have replaced their kubeconfigs.
    await startClients()
    await eventually(async () => isKnown(await report()))
    const completed = await rotate(1, 'complete', '--yes', ...IGNORING)
    assert.equal(completed.code, 0, completed.stderr)
    await requireWatching('after-complete')
    await requireUnharmed()
    await plane.check?.()
  })
}
