import assert from 'node:assert/strict'
import {readFile, writeFile} from 'node:fs/promises'
import {join} from 'node:path'
import {formatExpiration} from '../../src/cli/views/expiration.ts'
import {savePlane} from '../../src/control-plane/config/stored.ts'
import {checkExpiration, endingWithin, isOutOfDate} from '../../src/control-plane/expiration.ts'
import {parseCertificate} from '../../src/pki/certificate.ts'
import {createAuthorityCertificate} from '../../src/pki/create.ts'
import {generateKeys} from '../../src/pki/keys.ts'
import {pinOf} from '../../src/pki/pins.ts'
import {run} from '../cli/program.ts'
import {planeFixture, type PlaneFixture} from './plane-fixture.ts'

const DAY = 86_400_000

describe('checkExpiration', () => {
  let fixture: PlaneFixture
  let now: Date
  const after = (days: number) => ({now: () => new Date(now.getTime() + days * DAY)})
  const check = (days = 0) => checkExpiration(fixture.context.plane, after(days))

  beforeEach(async () => {
    fixture = await planeFixture()
    await fixture.provide('certs', 'kubeconfig')
    // Not when the file is loaded: on a busy machine, its turn comes later than certificates are backdated.
    now = new Date()
  })
  afterEach(() => fixture.remove())

  /** Appends a CA to the file of the cluster's. */
  async function trustAnother(days: number): Promise<string> {
    const file = join(fixture.dir, 'pki', 'ca.crt')
    const pem = await createAuthorityCertificate({commonName: 'kubernetes'}, await generateKeys(), {
      notBefore: new Date(now.getTime() - 2 * DAY),
      notAfter: new Date(now.getTime() + days * DAY),
    })
    await writeFile(file, (await readFile(file, 'utf8')) + pem)
    return pinOf(parseCertificate(pem))
  }
  const clusterAuthorities = async (days = 0) =>
    (await check(days)).certificateAuthorities.filter(({name}) => name === 'ca')

  it('shows every CA of a file, and which of them signs', async () => {
    const pin = await trustAnother(500)
    const [first, second, ...more] = await clusterAuthorities()
    assert.deepEqual(more, [])
    assert.equal(first?.signs, true)
    assert.equal(second?.signs, false)
    assert.equal(second.pin, pin)
    assert.notEqual(first.pin, pin)
    const server = (await check()).certificates.find(({name}) => name === 'apiserver')
    assert.deepEqual(server?.problems, [])
  })

  it('warns a year before a CA ends, the one that signs and one that is only trusted', async () => {
    assert.deepEqual(
      (await clusterAuthorities()).flatMap(({warnings}) => warnings),
      [],
    )
    await trustAnother(364)
    const [, old] = await clusterAuthorities()
    assert.match(old?.warnings.join() ?? '', /^it ends on \d{4}-\d\d-\d\d, in less than a year/)
    const [signing] = await clusterAuthorities(9 * 365 + 5)
    assert.equal(signing?.warnings.length, 1)
    assert.equal(signing.current, true)
  })

  it('says that a CA has expired, of all in a file', async () => {
    await trustAnother(-1)
    const report = await check()
    assert.equal(isOutOfDate(report), true)
    const [good, bad] = report.certificateAuthorities
    assert.deepEqual(good?.problems, [])
    assert.match(bad?.problems.join() ?? '', /ca\.crt expired on/)
    assert.deepEqual(bad?.warnings, [])
  })

  it('finds what ends within a time, the first to end first', async () => {
    const report = await check(340)
    assert.deepEqual(endingWithin(report, 20 * DAY), [])
    assert.equal(endingWithin(report, 30 * DAY).length, report.certificates.length)
    await trustAnother(345)
    const [first] = endingWithin(await check(340), 30 * DAY)
    assert.equal(first?.name, 'ca')
  })

  it('fits 80 columns for a real control plane', async () => {
    await trustAnother(-1)
    const lines = formatExpiration(await check()).split('\n')
    const tables = lines.filter((line) => !line.startsWith('!'))
    assert.ok(tables.length > 12)
    for (const line of tables) assert.ok(line.length <= 80, line)
  })
})

describe('certificate check-expiration', () => {
  it('ends with 3 for an expired certificate and says so in its row, whatever --within says', async () => {
    const fixture = await planeFixture()
    try {
      fixture.context.clock = {now: () => new Date(Date.now() - 2 * 365 * DAY)}
      await fixture.run('certs')
      await savePlane(fixture.context.plane)
      for (const more of [[], ['--within', '30d']]) {
        const line = ['certificate', 'check-expiration', '--dir', fixture.dir, ...more]
        const {exit, stdout, stderr} = await run(...line)
        assert.equal(exit, 3, stderr)
        assert.match(stdout, /^apiserver +\w+ \d+, \d{4} \d\d:\d\d UTC +expired +ca$/m)
        assert.match(stdout, /^ca +\w+ \d+, \d{4} \d\d:\d\d UTC +\dy +signs +here$/m)
      }
    } finally {
      await fixture.remove()
    }
  })

  it('ends with 7 and names what ends within the time of --within, and with 0 if nothing does', async () => {
    const fixture = await planeFixture()
    try {
      await fixture.provide('certs')
      await savePlane(fixture.context.plane)
      const within = (time: string) =>
        run('certificate', 'check-expiration', '--dir', fixture.dir, '--within', time)
      const due = await within('400d')
      assert.equal(due.exit, 7, due.stderr)
      assert.match(due.stderr, /these end within 400d: apiserver, /)
      assert.equal((await within('30d')).exit, 0)
    } finally {
      await fixture.remove()
    }
  })
})
