import assert from 'node:assert/strict'
import {mkdir, mkdtemp, readFile, rm, stat, writeFile} from 'node:fs/promises'
import {tmpdir} from 'node:os'
import {join} from 'node:path'
import {complete} from '../../../src/control-plane/config/settings.ts'
import {TrustError} from '../../../src/errors.ts'
import {adapt, findPlane, loadPlane, savePlane} from '../../../src/control-plane/config/stored.ts'

const standing = complete('/srv/plane', {
  advertiseAddress: '192.0.2.1',
  bindPort: 7000,
  certSANs: ['a.example'],
})

describe('the stored configuration', () => {
  let dir = ''
  beforeEach(async () => {
    dir = await mkdtemp(join(tmpdir(), 'trustadm-config-'))
  })
  afterEach(() => rm(dir, {recursive: true}))

  it('is read as it was written', async () => {
    const plane = {dir, settings: complete(dir, {bindPort: 7000}), generatedAuthorities: ['ca']}
    await savePlane(plane)
    assert.deepEqual(await findPlane(dir), plane)
  })

  it('keeps signers, and takes others at any time', async () => {
    const signer = {
      name: 'example.com/services',
      certificate: 'a.crt',
      key: 'a.key',
      usages: ['server auth'],
      organizations: [],
      names: ['dns' as const],
      maxValidityPeriod: 3_600_000,
      trustedFor: [],
    }
    const settings = complete(dir, {signers: [signer]})
    await savePlane({dir, settings, generatedAuthorities: []})
    assert.deepEqual((await findPlane(dir))?.settings.signers, [signer])
    assert.deepEqual(adapt(settings, {signers: []}).signers, [])
  })

  it('takes other sizes of the audit log and other limits at any time', () => {
    const choices = {
      auditLogPath: '/var/log/a.log',
      auditLogMaxSize: 1,
      auditLogMaxAge: 30,
      quotaBackendBytes: 1 << 30,
      targetRamMb: 2048,
      certificateRequestsPerHour: 10_000,
      storeTimeout: 20_000,
    }
    assert.deepEqual(adapt(standing, choices), {...standing, ...choices})
  })

  it('keeps how long a server answers without news of its store', async () => {
    const settings = complete(dir, {storeTimeout: 20_000})
    await savePlane({dir, settings, generatedAuthorities: []})
    assert.equal((await findPlane(dir))?.settings.storeTimeout, 20_000)
    assert.match(await readFile(join(dir, 'config.yaml'), 'utf8'), /storeTimeout: 20s/)
  })

  it('is for its owner only, whatever the umask', async () => {
    const before = process.umask(0)
    try {
      await savePlane({dir, settings: complete(dir, {}), generatedAuthorities: []})
    } finally {
      process.umask(before)
    }
    assert.equal((await stat(join(dir, 'config.yaml'))).mode & 0o777, 0o600)
  })

  describe('that is missing', () => {
    const before = process.env.TRUSTADM_DIR
    const suggestions = (named: string) =>
      loadPlane(named).then(
        () => assert.fail(),
        (error: unknown) => {
          assert.ok(error instanceof TrustError)
          return [error.code, ...error.suggestions]
        },
      )
    afterEach(() => {
      if (before === undefined) delete process.env.TRUSTADM_DIR
      else process.env.TRUSTADM_DIR = before
    })

    it('is to be named with --dir by somebody who has not used it', async () => {
      process.env.TRUSTADM_DIR = dir
      assert.deepEqual(await suggestions(dir), [
        'NOT_FOUND',
        'set one up with "trustadm init"',
        'or name its folder with --dir',
      ])
    })

    it('is looked for under another name by somebody who has used --dir', async () => {
      process.env.TRUSTADM_DIR = join(dir, 'usual')
      const named = join(dir, 'no control plane')
      assert.deepEqual(await suggestions(named), [
        'NOT_FOUND',
        'check the name: the folder of a control plane contains config.yaml',
        `or set one up there with "trustadm init --dir '${named}'"`,
      ])
    })

    it('is shown where it is, in the usual folder', async () => {
      process.env.TRUSTADM_DIR = dir
      await savePlane({dir, settings: complete(dir, {}), generatedAuthorities: []})
      const [, found] = await suggestions(join(dir, 'nope'))
      assert.equal(found, `there is one in ${dir}: leave out --dir to use that`)
    })
  })

  for (const [name, content] of [
    ['of another program', 'apiVersion: v1\nkind: Config\n'],
    ['of kubeadm', 'apiVersion: kubeadm.k8s.io/v1beta4\nkind: InitConfiguration\n'],
    ['that was emptied', ''],
  ] as const) {
    it(`is not read from a file ${name}`, async () => {
      await writeFile(join(dir, 'config.yaml'), content)
      await assert.rejects(loadPlane(dir), {code: 'CONFIG_INVALID'})
    })
  }

  it('is not made up anew where a store is without it', async () => {
    await mkdir(join(dir, 'store'))
    await writeFile(join(dir, 'store', 'data.mdb'), '')
    await assert.rejects(findPlane(dir), {code: 'CONFIG_INVALID', message: /but no config\.yaml/})
  })
})

describe('adapt', () => {
  it('keeps what is not said', () => assert.deepEqual(adapt(standing, {}), standing))

  it('accepts what is there already', () => {
    assert.deepEqual(adapt(standing, {bindPort: 7000, advertiseAddress: '192.0.2.1'}), standing)
  })

  it('adds names for the serving certificate', () => {
    assert.deepEqual(adapt(standing, {certSANs: ['b.example', 'a.example']}).certSANs, [
      'a.example',
      'b.example',
    ])
  })

  it('keeps the port that was picked when one is to be picked', () => {
    assert.equal(adapt(standing, {bindPort: 0}).bindPort, 7000)
  })

  it('takes up what concerns new certificates only', () => {
    assert.equal(adapt(standing, {keyAlgorithm: 'RSA-2048'}).keyAlgorithm, 'RSA-2048')
  })

  it('refuses what contradicts, and names the flag', () => {
    assert.throws(() => adapt(standing, {bindPort: 7001}), {
      code: 'CONFLICT',
      message: /--apiserver-bind-port 7000; it cannot be changed to 7001/,
    })
    // Without the folder, the command would remove another control plane.
    assert.throws(
      () => adapt(standing, {bindPort: 7001}, '/srv/plane'),
      (error: TrustError) =>
        error.suggestions.at(-1)?.endsWith('with "trustadm reset --dir /srv/plane"') === true,
    )
  })
})
