import assert from 'node:assert/strict'
import {execFileSync, spawn} from 'node:child_process'
import {once} from 'node:events'
import {mkdtemp, readFile, readdir, rm} from 'node:fs/promises'
import {tmpdir} from 'node:os'
import {join} from 'node:path'
import {setTimeout as sleep} from 'node:timers/promises'
import {stripVTControlCharacters} from 'node:util'
import type {ApiClient} from '../../src/client/api-client.ts'
import {connect} from '../../src/client/connect.ts'
import {pairingIn} from '../../src/control-plane/requests/pairing.ts'
import type {RequestReport} from '../../src/control-plane/requests/show.ts'
import {findCondition, stateOf} from '../../src/csr/conditions.ts'
import {KUBELET_CLIENT} from '../../src/csr/signers.ts'
import {generateKeys} from '../../src/pki/keys.ts'
import {makeRequest} from '../control-plane/requests/support.ts'
import {describeWithKubectl, sayMissing} from '../helpers/clients.ts'
import {PROGRAM, sharedCluster, type Cluster} from '../helpers/cluster.ts'
import {Kubectl} from '../helpers/kubectl.ts'
import {LineStream} from '../helpers/line-stream.ts'
import {trustadm, trustadmWith} from '../helpers/program.ts'
import {trustadmAtTerminal} from '../helpers/terminal.ts'

const PATIENCE = 10_000
const ENTER = '\r'
const DOWN = '\u001B[B'

describe('certificate requests of a cluster', function () {
  this.timeout(60_000)
  let cluster: Cluster
  let admin: ApiClient
  let home = ''
  before(async () => {
    cluster = await sharedCluster()
    admin = await connect(cluster.kubeconfig)
    home = await mkdtemp(join(tmpdir(), 'trustadm-certificate-'))
  })
  after(async () => {
    await admin.csrs.deleteCollection({labelSelector: 'test=certificate'})
    await admin.close()
    await rm(home, {recursive: true, force: true})
  })

  const certificate = (...args: string[]) =>
    trustadm('certificate', ...args, '--kubeconfig', cluster.kubeconfig)
  let made = 0
  /** A request of its own for each test; nobody in the cluster decides on it. */
  const newRequest = async (signer?: string) => {
    const name = `e2e-certificate-${(made += 1)}`
    await makeRequest(admin, {name, labels: {test: 'certificate'}, ...(signer && {signer})})
    return name
  }
  const stateOfRequest = async (name: string) => stateOf(await admin.csrs.get({name}))
  const untilState = async (name: string, wanted: string) => {
    const end = performance.now() + PATIENCE
    while ((await stateOfRequest(name)) !== wanted && performance.now() < end) await sleep(50)
    assert.equal(await stateOfRequest(name), wanted)
  }

  it('lead from a key to a kubeconfig, for which nobody needs openssl', async () => {
    const conf = join(home, 'ada.conf')
    const asking = certificate('request', 'ada', '--user', 'ada', '--kubeconfig-out', conf)
    const end = performance.now() + PATIENCE
    while (!(await admin.csrs.find({name: 'ada'})) && performance.now() < end) await sleep(50)
    const {stdout} = await certificate('approve', 'ada')
    assert.equal(stdout, 'certificate request "ada" approved\n')
    const {code, stderr} = await asking
    assert.equal(code, 0, stderr)
    const ada = await connect(conf)
    try {
      const {status} = await ada.selfSubjectReviews.create({metadata: {}})
      assert.equal(status?.userInfo?.username, 'ada')
    } finally {
      await ada.close()
    }
    const shown = await certificate('show', 'ada')
    assert.match(shown.stdout, /state +Issued\n/)
    assert.match(shown.stdout, /Certificate\n +serial +[0-9a-f]+\n +subject +CN=ada\n/)
    const downloaded = await certificate('download', 'ada')
    const [user] = /client-certificate-data: \S+/.exec(await readFile(conf, 'utf8')) ?? []
    assert.ok(user?.includes(Buffer.from(downloaded.stdout).toString('base64')))
    await admin.csrs.delete({name: 'ada'})
  })

  it('go on when the one who asked was killed', async () => {
    const out = join(home, 'bob')
    const line = ['certificate', 'request', '--user', 'bob', '--out', out]
    const flags = ['--kubeconfig', cluster.kubeconfig]
    const child = spawn(process.execPath, [PROGRAM, ...line, ...flags])
    const [text] = (await once(child.stderr, 'data')) as [Buffer]
    const name = /"(bob-\w+)"/.exec(text.toString())?.[1] ?? ''
    child.kill('SIGKILL')
    await once(child, 'close')
    assert.deepEqual(await readdir(out), ['bob.pending.key'])
    await certificate('approve', name)
    const again = await certificate('request', '--user', 'bob', '--out', out)
    assert.equal(again.code, 0, again.stderr)
    assert.match(again.stderr, /resuming with the certificate request "bob-/)
    assert.deepEqual((await readdir(out)).sort(), ['bob.crt', 'bob.key'])
    await admin.csrs.delete({name})
  })

  it('are watched as rows, and as one JSON object a line', async () => {
    const signer = 'example.com/watched'
    const name = await newRequest(signer)
    const start = (format: string) => {
      const flags = ['--signer', signer, '--watch', '--output', format]
      const where = ['--kubeconfig', cluster.kubeconfig]
      return new LineStream(
        spawn(process.execPath, [PROGRAM, 'certificate', 'list', ...flags, ...where]),
      )
    }
    const [rows, objects] = [start('table'), start('json')]
    try {
      await rows.until((lines) => lines.length === 2)
      await objects.until((lines) => lines.length === 1)
      await certificate('deny', name)
      const lines = await rows.until((all) => all.length === 3)
      assert.match(lines[0] ?? '', /^NAME /)
      assert.match(lines[1] ?? '', /Pending +[a-z]+( [a-z]+){3}$/)
      assert.match(lines[2] ?? '', /Denied$/)
      const seen = (await objects.until((all) => all.length === 2)).map(
        (line) => JSON.parse(line) as {change: string; request: {name: string; state: string}},
      )
      assert.deepEqual(
        seen.map(({change, request}) => [change, request.name, request.state]),
        [
          ['added', name, 'Pending'],
          ['changed', name, 'Denied'],
        ],
      )
    } finally {
      await Promise.all([rows.stop(), objects.stop()])
    }
  })

  it('are approved from the standard input', async () => {
    const name = await newRequest()
    const csr = await admin.csrs.get({name})
    const input = JSON.stringify({apiVersion: 'v1', kind: 'List', items: [csr]})
    const line = ['certificate', 'approve', '-f', '-', '--kubeconfig', cluster.kubeconfig]
    const {stdout, code, stderr} = await trustadmWith({input}, ...line)
    assert.equal(code, 0, stderr)
    assert.equal(stdout, `certificate request "${name}" approved\n`)
  })

  it('for the name of a node that is there wait for a person, who may let one machine in', async () => {
    const node = 'e2e-rejoining'
    await admin.nodes.create({metadata: {name: node}})
    const ask = async (name: string) =>
      await makeRequest(admin, {
        name,
        commonName: `system:node:${node}`,
        organizations: ['system:nodes'],
        signer: KUBELET_CLIENT,
        labels: {test: 'certificate'},
        keys: await generateKeys(),
      })
    await ask('e2e-rejoin-1')
    const held = /nodeclient leaves it to a person \(NodeNameTaken\)[^]*Events\n[^]*NodeNameTaken/
    const end = performance.now() + PATIENCE
    let {stdout} = await certificate('show', 'e2e-rejoin-1')
    while (!held.test(stdout) && performance.now() < end) {
      ;({stdout} = await certificate('show', 'e2e-rejoin-1'))
    }
    assert.match(stdout, held)
    const unnamed = await certificate('allow-rejoin', node)
    assert.equal(unnamed.code, 2)
    const [, pin = ''] = /key pin +(sha256:[0-9a-f]{64})/.exec(stdout) ?? []
    assert.equal((await certificate('allow-rejoin', node, '--pin', pin)).code, 0)
    await untilState('e2e-rejoin-1', 'Issued')
    await ask('e2e-rejoin-2')
    const second = await certificate('show', 'e2e-rejoin-2')
    assert.match(second.stdout, /nodeclient leaves it to a person \(NodeNameTaken\)/)
    await admin.nodes.delete({name: node})
  })

  describe('at a terminal', () => {
    before(function () {
      try {
        execFileSync('python3', ['-c', 'import pty'])
      } catch {
        sayMissing('python3')
        this.skip()
      }
    })

    const flags = () => ['--kubeconfig', cluster.kubeconfig]

    it('are shown before they are approved, and left where the answer is no', async () => {
      const name = await newRequest()
      const asked = `Approve this request?`
      const no = await trustadmAtTerminal(
        {turns: [{until: asked, type: `n${ENTER}`}]},
        ...['certificate', 'approve', name, ...flags()],
      )
      assert.match(no.stdout, new RegExp(`${name}: kubernetes-admin requests CN=ada from `))
      assert.match(no.stdout, /Nothing was approved/)
      assert.equal(no.code, 1)
      assert.equal(await stateOfRequest(name), 'Pending')
      const yes = await trustadmAtTerminal(
        {turns: [{until: asked, type: `y${ENTER}`}]},
        ...['certificate', 'approve', name, ...flags()],
      )
      assert.equal(yes.code, 0, yes.stdout)
      await untilState(name, 'Issued')
    })

    it('are shown with all that speaks against them before the question, and with their words', async () => {
      const node = 'e2e-asked-about'
      await admin.nodes.create({metadata: {name: node}})
      const name = `e2e-certificate-${(made += 1)}`
      const csr = await makeRequest(admin, {
        name,
        commonName: `system:node:${node}`,
        organizations: ['system:nodes'],
        signer: KUBELET_CLIENT,
        labels: {test: 'certificate'},
        keys: await generateKeys(),
      })
      const forAdmins = `e2e-certificate-${(made += 1)}`
      await makeRequest(admin, {
        name: forAdmins,
        organizations: ['e2e-storage-team'],
        labels: {test: 'certificate'},
      })
      const binding = 'e2e-storage-team'
      await admin.clusterRoleBindings.create({
        metadata: {name: binding},
        subjects: [{kind: 'Group', apiGroup: 'rbac.authorization.k8s.io', name: binding}],
        roleRef: {
          apiGroup: 'rbac.authorization.k8s.io',
          kind: 'ClusterRole',
          name: 'cluster-admin',
        },
      })
      const {stdout} = await trustadmAtTerminal(
        {turns: [{until: 'Approve these 2 requests?', type: `n${ENTER}`}], columns: 1000},
        ...['certificate', 'approve', name, forAdmins, ...flags()],
      )
      const text = stripVTControlCharacters(stdout)
      const shown = text.slice(0, text.indexOf('Approve these 2 requests?'))
      const report = await certificate('show', name, '--output', 'json')
      const {approvers} = JSON.parse(report.stdout) as RequestReport
      const failed = (approvers ?? [])
        .filter(({decision}) => decision === 'hold' || decision === 'deny')
        .flatMap(({rules}) => rules.filter(({holds}) => !holds))
      assert.ok(failed.length > 0)
      for (const {rule, reason} of failed) assert.ok(shown.includes(`${rule}: ${reason}`), shown)
      const words = (await pairingIn(admin, undefined)(csr)) ?? ''
      assert.match(words, /^[a-z]+( [a-z]+){3}$/)
      assert.ok(shown.includes(`from ${KUBELET_CLIENT}; pairing words: ${words}\r\n`), shown)
      assert.match(shown, /✖ the group e2e-storage-team has cluster-admin rights: whoever gets/)
      assert.deepEqual(await Promise.all([name, forAdmins].map(stateOfRequest)), [
        'Pending',
        'Pending',
      ])
      await admin.clusterRoleBindings.delete({name: binding})
      await admin.nodes.delete({name: node})
    })

    it('are approved with --yes without a question', async () => {
      const name = await newRequest()
      const line = ['certificate', 'approve', name, '--yes', ...flags()]
      const {code, stdout} = await trustadmAtTerminal({turns: []}, ...line)
      assert.equal(code, 0)
      assert.doesNotMatch(stdout, /\?/)
    })

    it('are gone through one by one', async () => {
      const signer = 'example.com/reviewed'
      const names = [await newRequest(signer), await newRequest(signer), await newRequest(signer)]
      const [first = '', second = '', third = ''] = names
      const {stdout, code} = await trustadmAtTerminal(
        {
          turns: [
            {until: `${first}: `, type: `${DOWN}${ENTER}`},
            {until: `${second}: `, type: `${DOWN}${DOWN}${ENTER}`},
            {until: 'Why?', type: `not ours${ENTER}`},
            {until: `${third}: `, type: ENTER},
          ],
        },
        ...['certificate', 'review', '--signer', signer, ...flags()],
      )
      assert.equal(code, 0, stdout)
      assert.match(stdout, /1 approved, 1 denied, 1 skipped/)
      assert.deepEqual(await Promise.all(names.map(stateOfRequest)), [
        'Approved',
        'Denied',
        'Pending',
      ])
      const denied = findCondition(await admin.csrs.get({name: second}), 'Denied')
      assert.equal(denied?.message, 'not ours')
    })

    it('fit a narrow one', async () => {
      const signer = 'example.com/narrow-terminals'
      await newRequest(signer)
      const line = ['certificate', 'list', '--signer', signer, ...flags()]
      const {stdout} = await trustadmAtTerminal({turns: [], columns: 70}, ...line)
      // eslint-disable-next-line no-control-regex -- colours have no width
      const lines = stdout.replaceAll(/\u001B\[\d+m/g, '').split('\r\n')
      assert.ok(lines.length > 1)
      for (const one of lines) assert.ok(one.length <= 70, one)
    })
  })

  describeWithKubectl('1.36', 'the same requests', (binary) => {
    let kubectl: Kubectl
    before(() => {
      kubectl = new Kubectl({binary, kubeconfig: cluster.kubeconfig, home})
    })

    it('agree on what is approved', async () => {
      const [ours, theirs] = [await newRequest(), await newRequest()]
      await certificate('approve', ours)
      assert.match(await kubectl.ok(`certificate approve ${theirs}`), /approved$/m)
      await untilState(ours, 'Issued')
      await untilState(theirs, 'Issued')
      assert.match(await kubectl.ok(`certificate approve ${ours}`), /approved$/m)
      const again = await certificate('approve', theirs)
      assert.equal(again.stdout, `certificate request "${theirs}" approved already\n`)
      const table = await kubectl.ok(`get csr ${ours} ${theirs}`)
      assert.equal(table.match(/Approved,Issued/g)?.length, 2)
      const {stdout} = await certificate('list', '--state', 'issued', '-o', 'name')
      assert.ok([ours, theirs].every((name) => stdout.split('\n').includes(name)))
    })

    it('agree that a decision is not turned around', async () => {
      const [approved, denied] = [await newRequest(), await newRequest()]
      await certificate('approve', approved)
      await kubectl.ok(`certificate deny ${denied}`)
      assert.match(await kubectl.fails(`certificate deny ${approved}`), /already Approved/)
      const ours = await certificate('approve', denied)
      assert.equal(ours.code, 6)
      assert.match(ours.stderr, /is already denied/)
    })

    it('agree on what kubectl prints as a manifest', async () => {
      const name = await newRequest()
      const input = await kubectl.ok(`get csr ${name} -o yaml`)
      const line = ['certificate', 'deny', '--yes', '-f', '-', '--kubeconfig', cluster.kubeconfig]
      assert.equal((await trustadmWith({input}, ...line)).code, 0)
      assert.match(await kubectl.ok(`get csr ${name}`), /Denied/)
      assert.match(await kubectl.ok(`describe csr ${name}`), /Denied/)
    })
  })
})
