import assert from 'node:assert/strict'
import {mkdtemp, rm, writeFile} from 'node:fs/promises'
import {tmpdir} from 'node:os'
import {join} from 'node:path'
import {joinTokens} from '../../src/cli/join-tokens.ts'

const ONE = 'aaaaa1.x8s0vq1zr5mw7cpd'
const TWO = 'aaaaa2.x8s0vq1zr5mw7cpd'
const THREE = 'aaaaa3.x8s0vq1zr5mw7cpd'

describe('the tokens of a join', () => {
  let folder = ''
  let file = ''
  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'trustadm-tokens-'))
    file = join(folder, 'token')
    await writeFile(file, `${TWO}\n`)
  })
  after(() => rm(folder, {recursive: true}))

  const warnings: string[] = []
  beforeEach(() => warnings.splice(0))
  const tokens = (
    flags: Parameters<typeof joinTokens>[0],
    choices: Parameters<typeof joinTokens>[1] = {},
    environment: Record<string, string> = {},
  ) => joinTokens(flags, choices, (line) => warnings.push(line), environment)

  it('are not read from the input that has the certificate key', async () => {
    await assert.rejects(tokens({token: '-', 'certificate-key': '-'}), {
      code: 'USAGE',
      message: '--token and --certificate-key cannot both read from stdin',
    })
  })

  it('are one for both in the line that init printed, without a warning', async () => {
    assert.deepEqual(await tokens({token: ONE}), {discovery: ONE, authentication: ONE})
    assert.deepEqual(warnings, [])
  })

  it('may be two, with one warning', async () => {
    const flags = {token: ONE, 'discovery-token': TWO, 'tls-bootstrap-token': THREE}
    assert.deepEqual(await tokens(flags), {discovery: TWO, authentication: THREE})
    assert.equal(warnings.length, 1)
  })

  it('come from a file without a warning', async () => {
    assert.deepEqual(await tokens({'token-file': file}), {discovery: TWO, authentication: TWO})
    assert.deepEqual(warnings, [])
  })

  it('come from the environment where nobody says another', async () => {
    const environment = {TRUSTADM_TOKEN: THREE}
    assert.deepEqual(await tokens({}, {}, environment), {discovery: THREE, authentication: THREE})
    assert.equal((await tokens({token: ONE}, {}, environment)).discovery, ONE)
  })

  it('are absent if the variable is empty', async () => {
    const none = {discovery: undefined, authentication: undefined}
    assert.deepEqual(await tokens({}, {}, {TRUSTADM_TOKEN: ''}), none)
  })

  it('of the command line win over those of the configuration', async () => {
    const choices = {discoveryToken: TWO, tlsBootstrapToken: THREE}
    assert.deepEqual(await tokens({}, choices), {discovery: TWO, authentication: THREE})
    assert.deepEqual(await tokens({token: ONE}, choices), {discovery: ONE, authentication: ONE})
  })

  it('of the configuration for discovery are for both where there is no other', async () => {
    assert.deepEqual(await tokens({}, {discoveryToken: TWO}), {
      discovery: TWO,
      authentication: TWO,
    })
  })

  it('are only to be let in by where a file says whom to trust', async () => {
    const flags = {'discovery-file': 'cluster.yaml'}
    const onlyTwo = {discovery: undefined, authentication: TWO}
    assert.deepEqual(await tokens({...flags, 'token-file': file}), onlyTwo)
    assert.deepEqual(await tokens(flags, {}, {TRUSTADM_TOKEN: TWO}), onlyTwo)
    assert.deepEqual(await tokens({...flags, 'tls-bootstrap-token': TWO}), onlyTwo)
  })

  it('count as a second way of discovery where --token is said beside a file', async () => {
    const flags = {'discovery-file': 'cluster.yaml', token: ONE}
    assert.equal((await tokens(flags)).discovery, ONE)
  })

  it('may not share the standard input', async () => {
    await assert.rejects(tokens({token: '-', 'discovery-file': '-'}), {
      code: 'USAGE',
      message: '--token and --discovery-file cannot both read from stdin',
    })
  })

  describe('beside a bootstrap kubeconfig', () => {
    const kubeconfig = {'bootstrap-kubeconfig': 'bootstrap.conf'}

    it('are none, even if the environment has one', async () => {
      const none = {discovery: undefined, authentication: undefined}
      const environment = {TRUSTADM_TOKEN: ONE}
      assert.deepEqual(await tokens(kubeconfig, {}, environment), none)
      assert.deepEqual(await tokens({}, {bootstrapKubeconfig: 'a'}, environment), none)
    })

    for (const flag of ['token', 'token-file', 'discovery-token', 'tls-bootstrap-token']) {
      it(`are refused as --${flag}`, async () => {
        await assert.rejects(tokens({...kubeconfig, [flag]: ONE}), {
          code: 'USAGE',
          message: `a bootstrap kubeconfig and --${flag} cannot be used together`,
        })
      })
    }

    it('are refused in the configuration', async () => {
      await assert.rejects(tokens(kubeconfig, {tlsBootstrapToken: ONE}), {
        code: 'USAGE',
        message: /tlsBootstrapToken/,
      })
    })
  })
})
