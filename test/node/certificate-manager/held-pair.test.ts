import assert from 'node:assert/strict'
import {chmod, mkdir, readFile, readdir, readlink, rename, rm, writeFile} from 'node:fs/promises'
import {join} from 'node:path'
import {findHeldPair, takeOver} from '../../../src/node/certificate-manager/held-pair.ts'
import {CredentialStore} from '../../../src/node/credential-store.ts'
import {systemClock} from '../../../src/runtime.ts'
import {parseCertificate} from '../../../src/pki/certificate.ts'
import {makeAuthority, type TestAuthority} from '../../client/support/certificates.ts'
import {
  files,
  inline,
  kubeletConf,
  nodePair,
  putPair,
  type IssuedPair,
} from '../../helpers/kubeadm-node.ts'
import {useFolder} from '../support.ts'

const LINK = 'kubelet-client-current.pem'

describe('the pair of a node', () => {
  const folder = useFolder()
  const pki = () => join(folder(), 'pki')
  const store = () => new CredentialStore(pki())
  const conf = () => join(folder(), 'kubelet.conf')
  let authority: TestAuthority
  let pairs: Record<'old' | 'new' | 'newest' | 'expired' | 'early' | 'other' | 'admin', IssuedPair>
  before(async () => {
    authority = await makeAuthority('kubernetes')
    const own = (from: number, to = 5) => nodePair(authority.issuer, 'one', {from, to})
    const subject = {commonName: 'kubernetes-admin', organizations: ['kubeadm:cluster-admins']}
    pairs = {
      old: await own(-3),
      new: await own(-2),
      newest: await own(-1),
      expired: await own(-4, -1),
      early: await own(1),
      other: await nodePair(authority.issuer, 'two', {from: -1}),
      admin: await nodePair(authority.issuer, '', {subject}),
    }
  })
  const write = (user: string) =>
    writeFile(conf(), kubeletConf({server: 'https://127.0.0.1:1', ca: authority.pem}, user), {
      mode: 0o600,
    })
  const find = () => findHeldPair({dir: folder(), store: store()}, systemClock.now())
  const fingerprint = ({certificate}: IssuedPair) => parseCertificate(certificate).fingerprint
  const finds = async (pair: IssuedPair) => {
    const held = await find()
    assert.equal(held?.certificate.fingerprint, fingerprint(pair))
    assert.equal(held.nodeName, 'one')
    return held
  }
  const lines: string[] = []
  beforeEach(() => (lines.length = 0))
  const take = (keepsConf = false) =>
    takeOver({dir: folder(), store: store()}, systemClock, (line) => void lines.push(line), {
      keepsConf,
    })
  const stored = async () => (await store().read())?.certificate.fingerprint

  it('is none in an empty folder', async () => {
    assert.equal(await find(), undefined)
    await take()
    assert.deepEqual(await readdir(folder()), [])
  })

  for (const [what, put] of [
    ['inside kubelet.conf', () => write(inline(pairs.new))],
    [
      'in files that kubelet.conf names, relative to it',
      async () => {
        await mkdir(join(folder(), 'own'), {mode: 0o700})
        await writeFile(join(folder(), 'own', 'node.crt'), pairs.new.certificate)
        await writeFile(join(folder(), 'own', 'node.key'), pairs.new.key, {mode: 0o600})
        await write(files('own/node.crt', 'own/node.key'))
      },
    ],
  ] as const) {
    it(`is the one ${what}: it is stored, and is to be renewed at once`, async () => {
      await put()
      const held = await finds(pairs.new)
      assert.deepEqual([held.from, held.isGiven], ['kubelet.conf', true])
      const text = await readFile(conf(), 'utf8')
      await take()
      assert.equal(await stored(), fingerprint(pairs.new))
      assert.equal(await readFile(conf(), 'utf8'), text)
      // A run that was killed before it had renewed it still knows.
      const again = await finds(pairs.new)
      assert.deepEqual([again.from, again.isGiven], ['link', true])
    })
  }

  it('is the newer one of kubelet.conf', async () => {
    await putPair(pki(), 'kubelet-client', pairs.old)
    await write(inline(pairs.new))
    assert.equal((await finds(pairs.new)).from, 'kubelet.conf')
    await take()
    assert.equal(await stored(), fingerprint(pairs.new))
  })

  it('is the one of kubelet.conf if the managed one has expired', async () => {
    await putPair(pki(), 'kubelet-client', pairs.expired)
    await write(inline(pairs.old))
    await finds(pairs.old)
  })

  for (const kind of ['old', 'expired', 'early'] as const) {
    it(`is the managed one if that of kubelet.conf is ${kind}, whose key is kept`, async () => {
      await putPair(pki(), 'kubelet-client', pairs.new)
      await write(inline(pairs[kind]))
      const held = await finds(pairs.new)
      assert.deepEqual([held.from, held.isGiven], ['link', false])
      await take()
      await take()
      assert.equal(await stored(), fingerprint(pairs.new))
      assert.equal((await readdir(pki())).length, 3)
      assert.equal(await store().holds(fingerprint(pairs[kind])), true)
    })
  }

  it('is written nowhere else if kubelet.conf stays as it is', async () => {
    await putPair(pki(), 'kubelet-client', pairs.new)
    await write(inline(pairs.old))
    await take(true)
    assert.equal((await readdir(pki())).length, 2)
  })

  for (const [what, put, code, message] of [
    [
      'of another node than the managed one',
      () => write(inline(pairs.other)),
      'CONFLICT',
      /system:node:two/,
    ],
    [
      'whose key is not its own',
      () => write(inline({...pairs.newest, key: pairs.old.key})),
      'KUBECONFIG_INVALID',
      /not the key of client-certificate/,
    ],
    [
      'that is half',
      () => write(`client-key-data: ${Buffer.from(pairs.new.key).toString('base64')}`),
      'KUBECONFIG_INVALID',
      /client-key/,
    ],
    [
      'in a file that is no kubeconfig',
      () => writeFile(conf(), `users: [\n${pairs.new.key}`, {mode: 0o600}),
      'KUBECONFIG_INVALID',
      /not valid YAML/,
    ],
    ['of a user', () => write(inline(pairs.admin)), 'CERTIFICATE_INVALID', /kubernetes-admin/],
  ] as const) {
    it(`inside kubelet.conf ${what} is refused, and nothing is changed`, async () => {
      const link = await putPair(pki(), 'kubelet-client', pairs.old)
      await put()
      const text = await readFile(conf(), 'utf8')
      await assert.rejects(take(), {code, message})
      assert.equal(await readFile(conf(), 'utf8'), text)
      assert.equal(await readlink(join(pki(), LINK)), link)
      assert.equal((await readdir(pki())).length, 2)
    })
  }

  it('is not that of a user, and the error says how such a credential is used', async () => {
    await write(inline(pairs.admin))
    await assert.rejects(
      find(),
      ({code, message, suggestions}: Error & {code: string; suggestions: string[]}) => {
        assert.equal(code, 'CERTIFICATE_INVALID')
        assert.match(message, /"kubernetes-admin"/)
        assert.match(suggestions.join('\n'), /--bootstrap-kubeconfig/)
        return true
      },
    )
  })

  it('is refused where anybody could have put it', async () => {
    await write(inline(pairs.new))
    await chmod(folder(), 0o777)
    await assert.rejects(find(), {code: 'FILE_UNSAFE', message: /every user may write/})
  })

  it('is refused in files where anybody could have put it', async () => {
    await mkdir(join(folder(), 'open'))
    await chmod(join(folder(), 'open'), 0o777)
    await writeFile(join(folder(), 'open', 'node.pem'), pairs.new.certificate + pairs.new.key)
    await write(files('open/node.pem'))
    await assert.rejects(find(), {code: 'FILE_UNSAFE', message: /every user may write/})
  })

  it('is the managed one if kubelet.conf only names files that are gone', async () => {
    await putPair(pki(), 'kubelet-client', pairs.old)
    await write(files('/nowhere/node.pem'))
    assert.equal((await finds(pairs.old)).from, 'link')
  })

  describe('without its link', () => {
    const unlinked = async (pair: IssuedPair, time: string) => {
      await putPair(pki(), 'kubelet-client', pair, time)
      await rm(join(pki(), LINK))
    }

    it('is the newest valid one of the folder, and the link is restored', async () => {
      await unlinked(pairs.expired, '2026-05-01-00-00-00')
      await unlinked(pairs.newest, '2026-01-01-00-00-00')
      await unlinked(pairs.old, '2026-03-01-00-00-00')
      await writeFile(join(pki(), 'kubelet-client-2026-06-01-00-00-00.pem'), pairs.new.certificate)
      const held = await finds(pairs.newest)
      assert.deepEqual([held.from, held.isGiven], ['unlinked', false])
      await take()
      assert.equal(await readlink(join(pki(), LINK)), 'kubelet-client-2026-01-01-00-00-00.pem')
      assert.match(lines.join('\n'), /kubelet-client-current\.pem was missing/)
    })

    it('is the newest expired one if none is valid: the cluster may know its key', async () => {
      await unlinked(pairs.expired, '2026-05-01-00-00-00')
      await finds(pairs.expired)
    })

    it('is refused where anybody could have put it', async () => {
      await unlinked(pairs.new, '2026-05-01-00-00-00')
      await chmod(pki(), 0o777)
      await assert.rejects(find(), {code: 'FILE_UNSAFE'})
    })
  })

  describe('in another folder than --cert-dir', () => {
    const former = () => join(folder(), 'former')
    beforeEach(async () => {
      await putPair(former(), 'kubelet-client', pairs.new)
      await write(files(join(former(), LINK)))
    })

    it('is the one of the folder that kubelet.conf names', async () => {
      const held = await finds(pairs.new)
      assert.deepEqual([held.from, held.isGiven], ['other folder', false])
      await take()
      assert.equal(await stored(), fingerprint(pairs.new))
      assert.equal((await readdir(former())).length, 2)
    })

    it('is it without a link there, too', async () => {
      await rm(join(former(), LINK))
      await finds(pairs.new)
    })

    it('is the newer one of both', async () => {
      await putPair(pki(), 'kubelet-client', pairs.newest)
      assert.equal((await finds(pairs.newest)).from, 'link')
      await rename(pki(), `${pki()}-newest`)
      await putPair(pki(), 'kubelet-client', pairs.old)
      assert.equal((await finds(pairs.new)).from, 'other folder')
    })
  })
})
