import assert from 'node:assert/strict'
import {readFile} from 'node:fs/promises'
import {join} from 'node:path'
import {connect, connectTo} from '../../src/client/connect.ts'
import {startEmbedded, type EmbeddedPlane} from '../../src/control-plane/embedded.ts'
import {checkExpiration, isOutOfDate} from '../../src/control-plane/expiration.ts'
import {messageOf} from '../../src/errors.ts'
import type {Clock} from '../../src/runtime.ts'
import {planeFixture, type PlaneFixture} from './plane-fixture.ts'

const DAY = 86_400_000

describe('a server whose certificates are out of date', () => {
  let fixture: PlaneFixture
  let embedded: EmbeddedPlane | undefined
  let lines: string[] = []
  let days = 0
  /** The time of the server; this process, as its client, has the real one. */
  const clock: Clock = {now: () => new Date(Date.now() + days * DAY)}

  before(async () => {
    fixture = await planeFixture()
    await fixture.provide('certs', 'kubeconfig')
  })
  beforeEach(() => {
    days = 0
    lines = []
  })
  afterEach(() => embedded?.close(0))
  after(() => fixture.remove())

  const start = async () => {
    embedded = await startEmbedded(fixture.context.plane, {clock, log: (line) => lines.push(line)})
  }
  const errors = () => lines.filter((line) => line.startsWith('error: the '))
  const admin = () => connect(join(fixture.dir, 'super-admin.conf'))
  const readiness = async () => {
    const ca = await readFile(join(fixture.dir, 'pki', 'ca.crt'), 'utf8')
    const server = `https://127.0.0.1:${embedded?.port ?? 0}`
    const client = connectTo({server, ca}, {environment: {}, retry: {attempts: 1}})
    try {
      return await client.raw('/readyz?verbose').catch(messageOf)
    } finally {
      await client.close()
    }
  }

  it('says nothing while they are valid', async () => {
    await start()
    assert.deepEqual(errors(), [])
    assert.match(await readiness(), /\[\+\]certificates ok/)
  })

  const CASES = [
    {
      name: 'an expired serving certificate',
      after: 400,
      says: [
        /apiserver\.crt has expired \(valid from .* to .*\): run "trustadm certificate renew apiserver --dir .*"/,
      ],
    },
    {
      name: 'an expired CA',
      after: 4_000,
      says: [/ca\.crt has expired/, /apiserver\.crt has expired/],
    },
    {
      name: 'a clock that was set back',
      after: -30,
      says: [
        /ca\.crt is not valid yet .* check the clock of this machine/,
        /apiserver\.crt is not valid yet/,
      ],
    },
  ]
  for (const {name, after, says} of CASES) {
    it(`says so at its start and in readyz, for ${name}`, async () => {
      days = after
      await start()
      assert.equal(errors().length, says.length, lines.join('\n'))
      says.forEach((pattern, index) => assert.match(errors()[index] ?? '', pattern))
      assert.match(await readiness(), /\[-\]certificates failed/)
      assert.equal(isOutOfDate(await checkExpiration(fixture.context.plane, clock)), true)
    })
  }

  it('is not ready from the moment that one expires, and ready again with the right time', async () => {
    await start()
    days = 400
    assert.match(await readiness(), /\[-\]certificates failed/)
    await embedded?.reload()
    assert.equal(errors().length, 1)
    days = 0
    assert.match(await readiness(), /\[\+\]certificates ok/)
    await embedded?.reload()
    assert.equal(lines.at(-1), 'the certificates are valid again')
  })

  it('tells the audit log why a client certificate was refused, and the client nothing', async () => {
    await start()
    days = 400
    const client = await admin()
    await assert.rejects(client.namespaces.list(), {code: 'UNAUTHORIZED', message: 'Unauthorized'})
    await client.close()
    await embedded?.close(0)
    embedded = undefined
    const audit = await readFile(join(fixture.dir, 'logs', 'audit-anonymous.log'), 'utf8')
    const line = audit.split('\n').find((one) => one.includes('"code":401'))
    assert.match(line ?? '', /the client certificate: it expired on \d{4}-/)
  })
})
