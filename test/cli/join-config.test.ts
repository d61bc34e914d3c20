import assert from 'node:assert/strict'
import {mkdtemp, rm, writeFile} from 'node:fs/promises'
import {tmpdir} from 'node:os'
import {join} from 'node:path'
import {stringify} from 'yaml'
import {formatClusterInfo} from '../../src/bootstrap/cluster-info.ts'
import {parseClusterInfo} from '../../src/bootstrap/parse-cluster-info.ts'
import {parseJoinFile} from '../../src/cli/join-config.ts'
import {hosts} from '../../src/control-plane/config/fields.ts'
import {discover} from '../../src/discovery/discover.ts'
import {planDiscovery} from '../../src/discovery/plan.ts'

const TOKEN = 'nh3k2b.x8s0vq1zr5mw7cpd'
const PIN = `sha256:${'ab'.repeat(32)}`
const KUBEADM = {apiVersion: 'kubeadm.k8s.io/v1beta4', kind: 'JoinConfiguration'}
const OURS = {apiVersion: 'trustadm.io/v1alpha1', kind: 'JoinConfiguration'}

const read = (document: object) => parseJoinFile(stringify(document), 'join.yaml')
const choicesOf = (document: object) => read(document).choices

/** How `join` looks at what a file says about discovery. */
function planOf(discovery: object) {
  const {choices} = read({...KUBEADM, discovery})
  return planDiscovery({
    file: choices.discoveryFile,
    token: choices.discoveryToken,
    endpoints: choices.endpoints,
    caCertHashes: choices.caCertHashes,
    unsafeSkipCaVerification: choices.unsafeSkipCaVerification,
  })
}

const byToken = (more: object) => ({
  bootstrapToken: {token: TOKEN, apiServerEndpoint: '192.168.122.100:6443', ...more},
})
const PINNED = {caCertHashes: [PIN]}

describe('the configuration of a join', () => {
  describe('cases of kubeadm', () => {
    const refused: [string, object][] = [
      [
        'both bootstrapToken and file',
        {...byToken(PINNED), file: {kubeConfigPath: '/a/file.conf'}},
      ],
      ['neither', {}],
      ['a token without apiServerEndpoint', {bootstrapToken: {token: TOKEN, ...PINNED}}],
      ['no caCertHashes and nothing that allows it', byToken({})],
      [
        'no caCertHashes, unsafeSkipCAVerification false',
        byToken({unsafeSkipCAVerification: false}),
      ],
      ['an endpoint without a port', byToken({...PINNED, apiServerEndpoint: '192.168.122.100'})],
      ['a discovery file http://[::1]a', {file: {kubeConfigPath: 'http://[::1]a'}}],
      ['a discovery file over http', {file: {kubeConfigPath: 'http://url/file.conf'}}],
      [
        'a discovery file https://u r l/file.conf',
        {file: {kubeConfigPath: 'https://u r l/file.conf'}},
      ],
    ]
    for (const [name, discovery] of refused) {
      it(`refuses ${name}`, () => {
        assert.throws(() => planOf(discovery), {code: 'USAGE'})
      })
    }

    const accepted: [string, object, string][] = [
      ['a token with hashes', byToken(PINNED), 'token'],
      [
        'hashes and unsafeSkipCAVerification',
        byToken({...PINNED, unsafeSkipCAVerification: true}),
        'token',
      ],
      ['unsafeSkipCAVerification alone', byToken({unsafeSkipCAVerification: true}), 'token'],
      ['an endpoint with a port', byToken(PINNED), 'token'],
      ['a URL', {file: {kubeConfigPath: 'https://url/file.conf'}}, 'https'],
    ]
    for (const [name, discovery, method] of accepted) {
      it(`takes ${name}`, () => {
        assert.equal(planOf(discovery).method, method)
      })
    }

    for (const file of ['foo', '/missing.conf']) {
      it(`refuses the discovery file ${file}, which is not there`, async () => {
        await assert.rejects(discover({file}), {code: 'FILE_UNREADABLE'})
      })
    }

    it('takes a discovery file that is there', async () => {
      const folder = await mkdtemp(join(tmpdir(), 'trustadm-config-'))
      const file = join(folder, 'cluster.yaml')
      await writeFile(file, formatClusterInfo({server: 'https://127.0.0.1:1'}))
      // It is read, and then nothing listens where it leads.
      await assert.rejects(discover({file}, {timeout: 0, environment: {}}), {
        code: 'SERVER_UNREACHABLE',
      })
      await rm(folder, {recursive: true})
    })

    for (const name of ['', 'INVALID-NODENAME', 'invalid-nodename-', 'invalid-node?name']) {
      it(`refuses the node name "${name}"`, () => {
        assert.throws(() => choicesOf({...KUBEADM, nodeRegistration: {name}}), {code: 'USAGE'})
      })
    }

    for (const names of ['1,2,,3', '???&?.garbage', '**.x', '*.*.x', 'a.*.x', '*']) {
      it(`refuses the names "${names}" for a certificate`, () => {
        assert.throws(() => hosts(names.split(','), 'certSANs'), {code: 'CONFIG_INVALID'})
      })
    }

    for (const name of ['host', 'host.example.com', '10.0.0.1', 'fd00::1', '*.example.com']) {
      it(`takes the name "${name}" for a certificate`, () => {
        assert.deepEqual(hosts([name], 'certSANs'), [name])
      })
    }

    it('refuses a kubeconfig that is empty, or whose CA is none', () => {
      assert.throws(() => parseClusterInfo(''), {code: 'CLUSTER_INFO_INVALID'})
      const cluster = {server: 'https://a:1', 'certificate-authority-data': 'foo'}
      const text = stringify({clusters: [{name: '', cluster}]})
      assert.throws(() => parseClusterInfo(text), {code: 'CLUSTER_INFO_INVALID'})
    })
  })

  it("reads all of kubeadm's JoinConfiguration that has a meaning here", () => {
    const {choices, warnings} = read({
      ...KUBEADM,
      nodeRegistration: {name: 'one', criSocket: 'unix:///x', ignorePreflightErrors: ['Swap']},
      discovery: {...byToken(PINNED), tlsBootstrapToken: 'abcdef.x8s0vq1zr5mw7cpd'},
      timeouts: {tlsBootstrap: '1m', discovery: '10s'},
      skipPhases: ['preflight'],
      dryRun: true,
    })
    assert.deepEqual(choices, {
      nodeName: 'one',
      ignoredChecks: ['Swap'],
      discoveryToken: TOKEN,
      endpoints: ['192.168.122.100:6443'],
      caCertHashes: [PIN],
      tlsBootstrapToken: 'abcdef.x8s0vq1zr5mw7cpd',
      certificateTimeout: 60_000,
      discoveryTimeout: 10_000,
      skipPhases: ['preflight'],
      dryRun: true,
    })
    assert.deepEqual(warnings, ['JoinConfiguration.nodeRegistration.criSocket has no effect here'])
  })

  it('reads ours', () => {
    const {choices} = read({
      ...OURS,
      dir: '/srv/node',
      endpoints: ['a:1', 'b:1'],
      token: TOKEN,
      forKubelet: true,
      timeout: '1m',
    })
    assert.deepEqual(choices, {
      dir: '/srv/node',
      endpoints: ['a:1', 'b:1'],
      token: TOKEN,
      forKubelet: true,
      timeout: 60_000,
    })
  })

  it('passes over the documents of other commands, and names them', () => {
    const init = stringify({apiVersion: 'kubeadm.k8s.io/v1beta4', kind: 'InitConfiguration'})
    const text = `${init}---\n${stringify({...KUBEADM, discovery: byToken(PINNED)})}`
    const {choices, warnings} = parseJoinFile(text, 'join.yaml')
    assert.equal(choices.discoveryToken, TOKEN)
    assert.match(warnings.join(), /InitConfiguration of .* has no effect here/)
  })

  it('names a field that nobody knows', () => {
    assert.throws(() => read({...KUBEADM, nodeRegistation: {}}), {
      code: 'CONFIG_INVALID',
      message: /join\.yaml: unknown field JoinConfiguration\.nodeRegistation/,
    })
  })

  it('refuses an older version, with the way out', () => {
    assert.throws(() => read({...KUBEADM, apiVersion: 'kubeadm.k8s.io/v1beta3'}), {
      code: 'CONFIG_INVALID',
      suggestions: ['convert it to kubeadm.k8s.io/v1beta4 with "kubeadm config migrate"'],
    })
  })

  it('refuses to join as a control plane', () => {
    assert.throws(() => read({...KUBEADM, controlPlane: {}}), {
      code: 'USAGE',
      message: /controlPlane is for a control plane/,
    })
  })

  it('shows nothing of a token in the wrong form or place', () => {
    const secret = 'x8s0vq1zr5mw7cpd'
    for (const document of [
      {...OURS, token: `nh3k2bb.${secret}`},
      {...OURS, token: [secret]},
      {...OURS, caCertHashes: secret},
      {...KUBEADM, discovery: {tlsBootstrapToken: secret}},
    ]) {
      assert.throws(
        () => read(document),
        (error: Error) => !error.message.includes(secret),
      )
    }
  })
})
