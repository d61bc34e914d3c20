import assert from 'node:assert/strict'
import {readdir, readFile, rm, symlink, writeFile} from 'node:fs/promises'
import {join} from 'node:path'
import {TrustError} from '../../../src/errors.ts'
import {
  CertificateManager,
  type ManagerOptions,
} from '../../../src/node/certificate-manager/certificate-manager.ts'
import {clientCertificate} from '../../../src/node/client-certificate.ts'
import {CredentialStore} from '../../../src/node/credential-store.ts'
import {nodeRecord} from '../../../src/node/node-files.ts'
import {parseCertificate} from '../../../src/pki/certificate.ts'
import {issueLeaf} from '../../../src/pki/issuer.ts'
import {generateKeys, privateKeyPem} from '../../../src/pki/keys.ts'
import {NO_NAMES} from '../../../src/pki/subject-names.ts'
import {makeAuthority, type TestAuthority} from '../../client/support/certificates.ts'
import {useFolder} from '../support.ts'

const HOUR = 3_600_000
const START = new Date('2026-06-01T00:00:00Z').getTime()

describe('the certificate manager', () => {
  const folder = useFolder()
  const signal = new AbortController().signal
  let authority: TestAuthority
  let now: number
  let obtained: number
  let failure: Error | undefined
  let lifetime: number
  before(async () => {
    authority = await makeAuthority()
  })
  beforeEach(() => {
    now = START
    obtained = 0
    failure = undefined
    lifetime = 100 * HOUR
  })

  const clock = {now: () => new Date(now)}
  const store = () => new CredentialStore(join(folder(), 'pki'), {record: nodeRecord(folder())})
  const issuePair = async (node = 'a') => {
    const keys = await generateKeys()
    const {subject} = clientCertificate(node)
    const certificatePem = await issueLeaf(authority.issuer, {
      subject,
      names: NO_NAMES,
      publicKey: keys.publicKey,
      usages: ['digital signature', 'client auth'],
      validity: {notBefore: clock.now(), notAfter: new Date(now + lifetime)},
    })
    return {
      certificatePem,
      keyPem: privateKeyPem(keys.privateKey),
      certificate: parseCertificate(certificatePem),
    }
  }
  const manager = (more: Partial<ManagerOptions> = {}) =>
    new CertificateManager({
      store: store(),
      wanted: () => clientCertificate('a'),
      obtain: async () => {
        obtained += 1
        if (failure) throw failure
        return await issuePair()
      },
      clock,
      draw: () => 0,
      random: () => 1,
      ...more,
    })
  const stored = async () => {
    const {certificatePem, keyPem} = await issuePair()
    await store().update(certificatePem, keyPem, clock.now())
  }
  const subjectOf = ({current}: CertificateManager) => current?.certificate.subject.commonName
  const waitOf = ({nextAttempt}: CertificateManager) => (nextAttempt?.getTime() ?? NaN) - now

  it('has nothing at first, and asks at once', async () => {
    const one = manager()
    assert.equal(await one.load(), false)
    assert.equal(subjectOf(one), undefined)
    assert.equal(one.isDue, true)
    await one.renew(signal)
    assert.equal(subjectOf(one), 'system:node:a')
    assert.equal(one.isDue, false)
  })

  it('uses the pair of the kubeconfig until it has one of its own', async () => {
    const given = await issuePair()
    now += HOUR
    const one = manager({given})
    await one.load()
    assert.equal(one.current, given)
    await one.renew(signal)
    assert.notEqual(one.current?.certificate.serial, given.certificate.serial)
  })

  it('keeps a valid one, and asks for nothing before 70 percent of its life', async () => {
    await stored()
    const one = manager()
    assert.equal(await one.load(), true)
    now += 69 * HOUR
    assert.equal(one.isDue, false)
    now += HOUR
    assert.equal(one.isDue, true)
  })

  it('treats an expired one as none', async () => {
    await stored()
    const one = manager()
    await one.load()
    now += 101 * HOUR
    assert.equal(one.isDue, true)
    assert.equal(one.deadline?.getTime(), 0)
  })

  it('follows the clock, wherever it jumps', async () => {
    await stored()
    const one = manager()
    await one.load()
    now += 95 * HOUR
    assert.equal(one.isDue, true)
    now -= 94 * HOUR
    assert.equal(one.isDue, false)
    now = START - HOUR
    assert.equal(one.isDue, false)
  })

  it('stores a new one, hands it out, and tells those who use it', async () => {
    await stored()
    const one = manager()
    await one.load()
    const before = one.current?.certificate.serial
    const told: (string | undefined)[] = []
    one.live.subscribe((pair) => void told.push(pair?.certificate.serial))
    now += 80 * HOUR
    await one.renew(signal)
    const after = one.current?.certificate.serial
    assert.notEqual(after, before)
    assert.deepEqual(told, [after])
    assert.equal((await store().read())?.certificate.serial, after)
    assert.equal(one.lastAttempt?.error, undefined)
  })

  it('keeps the old one whatever fails, and tries again after 2, 4, 8, 16, 32, 32 seconds', async () => {
    await stored()
    const one = manager()
    await one.load()
    const before = one.current
    now += 80 * HOUR
    failure = new TrustError('CERTIFICATE_DENIED', 'no')
    for (const seconds of [2, 4, 8, 16, 32, 32]) {
      await assert.rejects(one.renew(signal), failure)
      assert.equal(waitOf(one), seconds * 1000)
      assert.equal(one.isDue, false)
      now += seconds * 1000
      assert.equal(one.isDue, true)
    }
    assert.equal(one.current, before)
    assert.equal(one.failures, 6)
    assert.equal(one.lastAttempt?.error, failure)
    failure = undefined
    await one.renew(signal)
    assert.equal(one.lastAttempt.error, undefined)
    assert.equal(obtained, 7)
  })

  it('knows whether a healthy server answered its last attempt', async () => {
    const one = manager()
    const seen: (boolean | undefined)[] = [one.isServerHealthy]
    for (const next of [
      new TrustError('SERVER_UNREACHABLE', 'it is away'),
      new TrustError('FILE_UNWRITABLE', 'the disk is full'),
      new TrustError('UNAUTHORIZED', 'it does not know this node'),
      undefined,
    ]) {
      failure = next
      await one.renew(signal).catch(() => undefined)
      seen.push(one.isServerHealthy)
    }
    assert.deepEqual(seen, [undefined, false, false, true, true])
  })

  it('waits as long as a busy server asks', async () => {
    const one = manager()
    failure = new TrustError('TOO_MANY_REQUESTS', 'busy', {facts: {retryAfter: 90_000}})
    await assert.rejects(one.renew(signal), failure)
    assert.equal(waitOf(one), 90_000)
  })

  it('waits at most an hour, and a quarter of what the certificate has left', async () => {
    failure = new TrustError('TOO_MANY_REQUESTS', 'busy', {facts: {retryAfter: 999_999_999_000}})
    const without = manager()
    await assert.rejects(without.renew(signal), failure)
    assert.equal(waitOf(without), HOUR)
    await stored()
    const one = manager()
    await one.load()
    now += 98 * HOUR
    await assert.rejects(one.renew(signal), failure)
    assert.equal(waitOf(one), HOUR / 2)
  })

  it('spreads the attempts of a fleet', async () => {
    const one = manager({random: () => 0})
    failure = new Error('no')
    await assert.rejects(one.renew(signal), failure)
    assert.equal(waitOf(one), 1000)
  })

  it('renews because another CA signs now, spread over ten seconds, once for each CA', async () => {
    const due: number[] = []
    for (const draw of [0, 0.25, 1]) {
      let issuer: string | undefined
      await stored()
      const one = manager({draw: () => draw, issuer: () => issuer})
      await one.load()
      issuer = one.current?.certificate.authorityKeyId
      assert.equal(waitOf(one) >= 70 * HOUR, true, 'the CA of its certificate signs')
      issuer = 'abcdef'
      due.push(waitOf(one))
      now += 10_000
      assert.equal(one.isDue, true)
      // The CA that signs is not the one that was announced: no loop.
      await one.renew(signal)
      assert.equal(one.isDue, false)
      issuer = '123456'
      assert.equal(waitOf(one), draw * 10_000)
    }
    assert.deepEqual(due, [0, 2500, 10_000])
  })

  it('does not wait longer because the clock was set back', async () => {
    const one = manager()
    failure = new Error('no')
    await assert.rejects(one.renew(signal), failure)
    now -= 24 * HOUR
    assert.equal(waitOf(one), 2000)
    now += 2000
    assert.equal(one.isDue, true)
  })

  it('tries again at once when it is told to look again', async () => {
    const one = manager()
    failure = new Error('no')
    await assert.rejects(one.renew(signal), failure)
    one.retryNow()
    assert.equal(one.isDue, true)
  })

  it('pauses between certificates that are due as soon as they are issued', async () => {
    const one = manager({
      obtain: async () => {
        const pair = await issuePair()
        now += 80 * HOUR
        return pair
      },
    })
    for (const seconds of [2, 4]) {
      await one.renew(signal)
      assert.ok(one.deadline && one.deadline <= clock.now())
      assert.equal(waitOf(one), seconds * 1000)
    }
  })

  it('never pauses until such a certificate has expired', async () => {
    lifetime = 4000
    const one = manager({
      obtain: async () => {
        const pair = await issuePair()
        now += 3000
        return pair
      },
    })
    await one.renew(signal)
    assert.equal(waitOf(one), 250)
  })

  describe('on a machine whose clock is ahead', () => {
    let ahead: number
    beforeEach(() => (ahead = 0))
    const serverClock = {
      get ahead() {
        return ahead
      },
      now: () => new Date(now - ahead),
    }
    /** What the cluster issues now, by its own clock. */
    const obtain = async () => {
      obtained += 1
      now -= ahead
      const pair = await issuePair()
      now += ahead
      return pair
    }
    const openAhead = (more: Partial<ManagerOptions> = {}) =>
      manager({serverClock, obtain, ...more})

    it('renews once, and then by the clock of the server', async () => {
      const one = openAhead()
      ahead = 80 * HOUR
      now += ahead
      await one.renew(signal)
      assert.deepEqual([one.isDue, one.clockAhead, waitOf(one)], [false, 80 * HOUR, 70 * HOUR])
      now += 70 * HOUR
      assert.deepEqual([one.isDue, one.clockAhead], [true, 0])
    })

    it('does so with a certificate that has expired by its own clock, also in the next process', async () => {
      const one = openAhead()
      ahead = 330 * 24 * HOUR
      now += ahead
      await one.renew(signal)
      const next = openAhead({early: one.early})
      await next.load()
      for (const each of [one, next]) assert.equal(waitOf(each), 70 * HOUR)
      const without = openAhead()
      await without.load()
      assert.equal(without.isDue, true)
    })

    it('renews in time once the clock is right again', async () => {
      const one = openAhead()
      ahead = 80 * HOUR
      now += ahead
      await one.renew(signal)
      now -= ahead
      ahead = 0
      assert.deepEqual([one.isDue, one.clockAhead, waitOf(one)], [false, 0, 70 * HOUR])
      now += 70 * HOUR
      assert.equal(one.isDue, true)
    })

    it('renews when another CA signs, all the same', async () => {
      const signs: {key?: string} = {}
      const one = openAhead({issuer: () => signs.key})
      ahead = 80 * HOUR
      now += ahead
      await one.renew(signal)
      signs.key = 'abcdef'
      assert.equal(one.isDue, true)
    })
  })

  it('renews one for the old key at once', async () => {
    const one = manager({
      obtain: async () => ({...(await issuePair()), hasOldKey: obtained++ === 0}),
    })
    await one.renew(signal)
    assert.equal(one.isDue, true)
    await one.renew(signal)
    assert.equal(one.isDue, false)
  })

  it('asks at once if more names are wanted than the certificate has', async () => {
    await stored()
    let dns: string[] = []
    const one = manager({
      wanted: () => ({...clientCertificate('a'), names: {...NO_NAMES, dns}}),
    })
    await one.load()
    assert.equal(one.isDue, false)
    dns = ['a.example']
    assert.equal(one.isDue, true)
  })

  it('does nothing while it is not known what to ask for', async () => {
    const one = manager({wanted: () => undefined})
    await one.load()
    assert.equal(one.isDue, false)
    assert.equal(one.deadline, undefined)
  })

  it('follows a pair that someone else put there', async () => {
    await stored()
    const one = manager()
    await one.load()
    now += HOUR
    assert.equal(await one.load(), false)
    const other = await issuePair()
    await store().update(other.certificatePem, other.keyPem, clock.now())
    assert.equal(await one.load(), true)
    assert.equal(one.current?.certificate.serial, other.certificate.serial)
  })

  it('keeps what it has if someone put something there that cannot be used', async () => {
    await stored()
    const one = manager()
    await one.load()
    const before = one.current
    await rm(store().current)
    await symlink('kubelet-client-gone.pem', store().current)
    await assert.rejects(one.load(), {code: 'FILE_UNREADABLE'})
    assert.equal(one.current, before)
  })

  it('keeps what it has if the link vanishes, says so, and writes a new link when it renews', async () => {
    await stored()
    const one = manager()
    await one.load()
    const before = one.current
    await rm(store().current)
    await assert.rejects(one.load(), {code: 'FILE_UNREADABLE'})
    assert.equal(one.current, before)
    assert.equal(one.isDue, false)
    now += 80 * HOUR
    await one.renew(signal)
    assert.equal((await store().read())?.certificate.serial, one.current?.certificate.serial)
    assert.notEqual(one.current, before)
    assert.equal(await one.load(), false)
  })

  it('drops the new one if it cannot be stored', async () => {
    await stored()
    const full = new TrustError('FILE_UNWRITABLE', 'the disk is full')
    const own = store()
    const one = manager({
      store: {
        read: () => own.read(),
        currentFile: () => own.currentFile(),
        requireRoom: () => own.requireRoom(),
        removeExpired: () => own.removeExpired(clock.now()),
        update: () => Promise.reject(full),
      },
    })
    await one.load()
    const before = one.current
    await assert.rejects(one.renew(signal), full)
    assert.equal(one.current, before)
    assert.equal(waitOf(one), 70 * HOUR)
  })

  it('asks for nothing while there is no room to store it, however often it tries', async () => {
    await stored()
    const own = store()
    const full = new TrustError('FILE_UNWRITABLE', 'the disk is full')
    let isFull = true
    const one = manager({
      store: {
        read: () => own.read(),
        currentFile: () => own.currentFile(),
        requireRoom: () => (isFull ? Promise.reject(full) : own.requireRoom()),
        removeExpired: (at) => own.removeExpired(at),
        update: (...pair) => own.update(...pair),
      },
    })
    await one.load()
    for (let tries = 0; tries < 3; tries += 1) await assert.rejects(one.renew(signal), full)
    assert.equal(obtained, 0)
    isFull = false
    await one.renew(signal)
    assert.equal(obtained, 1)
  })

  it('keeps the pair before the current one, and removes older ones that have expired', async () => {
    const one = manager()
    await one.renew(signal)
    for (let count = 0; count < 3; count += 1) {
      now += 80 * HOUR
      await one.renew(signal)
    }
    assert.deepEqual(await readdir(store().folder), [
      'kubelet-client-2026-06-07-16-00-00.pem',
      'kubelet-client-2026-06-11-00-00-00.pem',
      'kubelet-client-current.pem',
    ])
  })

  it('never removes what a kubelet has made, however long ago it expired', async () => {
    const one = manager()
    await one.renew(signal)
    const {folder: pki, current} = store()
    const kubelets = join(pki, 'kubelet-client-2020-01-01-00-00-00.pem')
    await writeFile(kubelets, await readFile(current), {mode: 0o600})
    for (let count = 0; count < 3; count += 1) {
      now += 80 * HOUR
      await one.renew(signal)
    }
    assert.deepEqual(await readdir(pki), [
      'kubelet-client-2020-01-01-00-00-00.pem',
      'kubelet-client-2026-06-07-16-00-00.pem',
      'kubelet-client-2026-06-11-00-00-00.pem',
      'kubelet-client-current.pem',
    ])
  })

  it('stores nothing after it was stopped', async () => {
    const stop = new AbortController()
    const one = manager({
      obtain: async () => {
        stop.abort(new Error('stopped'))
        return await issuePair()
      },
    })
    await assert.rejects(one.renew(stop.signal), /stopped/)
    assert.equal(await store().read(), undefined)
    assert.equal(one.failures, 0)
  })
})
