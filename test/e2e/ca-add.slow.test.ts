import assert from 'node:assert/strict'
import {spawn} from 'node:child_process'
import {once} from 'node:events'
import {readFile, writeFile} from 'node:fs/promises'
import {join} from 'node:path'
import {connect} from '../../src/client/connect.ts'
import type {AuthorityReport} from '../../src/control-plane/ca-rotation/authorities.ts'
import type {RotationPlan} from '../../src/control-plane/ca-rotation/plan.ts'
import type {RotationReport} from '../../src/control-plane/ca-rotation/report.ts'
import type {RotationEvent} from '../../src/cli/rotation/events.ts'
import {parseBundle} from '../../src/pki/bundle.ts'
import {eventually} from '../controllers/signing/support.ts'
import {parseResult} from '../helpers/joining.ts'
import {PROGRAM, programFixture, trustadm, type ProgramFixture} from '../helpers/program.ts'

describe('the commands of CAs', function () {
  this.timeout(120_000)
  let fixture: ProgramFixture
  const own = (name: string) => join(fixture.dir, name)
  const ca = (...args: string[]) => trustadm('ca', ...args, '--dir', fixture.dir)
  /** A command that runs beside the test. */
  const run = (...args: string[]) => {
    const child = spawn(process.execPath, [PROGRAM, 'ca', ...args, '--dir', fixture.dir])
    let [stdout, stderr] = ['', '']
    child.stdout.setEncoding('utf8').on('data', (text: string) => (stdout += text))
    child.stderr.setEncoding('utf8').on('data', (text: string) => (stderr += text))
    return {child, stdout: () => stdout, stderr: () => stderr, ended: once(child, 'close')}
  }
  const json = async (...args: string[]) => parseResult(await ca(...args, '-o', 'json'))
  const subjects = async (name: string) =>
    parseBundle(await readFile(own(`pki/${name}.crt`), 'utf8')).map(
      ({subject}) => subject.commonName,
    )
  const curveOf = async (name: string) => {
    const [first] = parseBundle(await readFile(own(`pki/${name}.crt`), 'utf8'))
    return first?.publicKeyDer.length
  }

  before(async () => {
    fixture = await programFixture()
    assert.equal((await fixture.init()).code, 0)
  })
  after(() => fixture.remove())

  it('add a CA that rotates with the others, in both of its ways, with its command', async () => {
    const log = own('hook.log')
    const hook = `echo "$TRUSTADM_CA $TRUSTADM_ROTATION_STEP $(grep -c BEGIN "$TRUSTADM_CA_CERTIFICATE")" >> ${log}`
    const added = (await json(
      'add',
      'vpn-ca',
      '--description',
      'clients of the VPN',
      '--on-change',
      hook,
    )) as AuthorityReport
    assert.equal(added.added?.description, 'clients of the VPN')
    assert.equal((await ca('add', 'metrics-ca', '--signs', 'servers')).code, 0)
    assert.equal((await ca('add', 'vpn-ca')).code, 6)
    assert.equal((await ca('add', 'client-ca')).code, 2)
    assert.equal((await ca('add', 'vpn')).code, 2)
    const {authorities} = (await json('list')) as {authorities: AuthorityReport[]}
    assert.ok(['vpn-ca', 'metrics-ca'].every((id) => authorities.some(({name}) => name === id)))

    const only = ['--only', 'vpn-ca,metrics-ca', '--key-algorithm', 'ECDSA-P384']
    const plan = (await json('rotate', 'start', '--dry-run', ...only)) as RotationPlan
    assert.deepEqual(plan.authorities, ['vpn-ca', 'metrics-ca'])
    assert.ok(plan.steps.length > 5 && plan.steps.every(({state}) => state === 'to do'))
    const before = await curveOf('vpn-ca')
    assert.equal((await ca('rotate', 'start', '--yes', ...only)).code, 0)
    const both = [await subjects('vpn-ca'), await subjects('metrics-ca')]
    // The new one signs clients by now, but no servers yet.
    assert.match(both[0]?.[0] ?? '', /^vpn-ca@/)
    assert.equal(both[0]?.[1], 'vpn-ca')
    assert.equal(both[1]?.[0], 'metrics-ca')
    assert.match(both[1]?.[1] ?? '', /^metrics-ca@/)
    assert.ok(((await curveOf('vpn-ca')) ?? 0) > (before ?? 0))
    assert.equal((await ca('remove', 'vpn-ca', '--yes')).code, 6)

    assert.equal((await ca('rotate', 'complete', '--dry-run')).code, 0)
    assert.equal((await ca('rotate', 'complete', '--yes', '--wait')).code, 0)
    for (const name of ['vpn-ca', 'metrics-ca']) {
      const left = await subjects(name)
      assert.equal(left.length, 1)
      assert.match(left[0] ?? '', new RegExp(`^${name}@`))
    }
    assert.equal(
      await readFile(log, 'utf8'),
      [
        'vpn-ca servers-trust-both 2',
        'vpn-ca servers-sign-clients 2',
        'vpn-ca servers-present-new 2',
        'vpn-ca servers-distrust-old 1',
        '',
      ].join('\n'),
    )
    const {stdout} = await trustadm('__complete', 'ca', 'remove', '--dir', fixture.dir, 'v')
    assert.match(stdout, /^vpn-ca\t/m)
    assert.equal((await ca('remove', 'vpn-ca', '--yes')).code, 0)
    assert.equal((await ca('show', 'vpn-ca')).code, 1)
  })

  it('stop a rotation whose command fails, and resume it', async () => {
    const gate = own('gate')
    assert.equal((await ca('add', 'gate-ca', '--on-change', `test -e ${gate}`)).code, 0)
    const failed = await ca('rotate', 'start', '--yes', '--only', 'gate-ca')
    assert.deepEqual([failed.code, failed.stderr.includes('gate-ca')], [1, true])
    await writeFile(gate, '')
    assert.equal((await ca('rotate', 'start', '--yes')).code, 0)
    assert.equal((await ca('rotate', 'abort', '--yes')).code, 0)
    assert.deepEqual(await subjects('gate-ca'), ['gate-ca'])
  })

  it('watch a rotation to its end, one object a line', async () => {
    const watch = () => ca('rotate', 'status', '--watch', '-o', 'json')
    const eventsOf = (text: string) =>
      text
        .trim()
        .split('\n')
        .map((line) => JSON.parse(line) as RotationEvent)
    const idle = await watch()
    assert.deepEqual([idle.code, eventsOf(idle.stdout).map(({event}) => event)], [0, ['finished']])
    assert.equal((await ca('rotate', 'start', '--yes', '--only', 'front-proxy-ca')).code, 0)
    const prepared = eventsOf((await watch()).stdout)
    const last = prepared.at(-1)
    assert.ok(last?.event === 'finished' && last.isReady && last.phase === 'Prepare')
    assert.ok(prepared.slice(0, -1).every((one) => one.event === 'step' && one.state === 'done'))
    assert.equal((await ca('rotate', 'status', '--watch', '-o', 'yaml')).code, 2)
    assert.equal((await ca('rotate', 'complete', '--yes')).code, 0)
  })

  it('wait for nodes, can be stopped, and go on once nobody is locked out', async () => {
    const admin = await connect(own('super-admin.conf'))
    try {
      await admin.nodes.create({metadata: {name: 'silent'}})
      const only = ['--only', 'kubelet-serving-ca']
      assert.equal((await ca('rotate', 'start', '--yes', ...only)).code, 0)
      const plan = await ca('rotate', 'complete', '--dry-run', '-o', 'json')
      const {dependents} = JSON.parse(plan.stdout) as RotationPlan
      assert.deepEqual([plan.code, dependents.map(({name}) => name)], [6, ['silent']])

      const watch = run('rotate', 'status', '--watch', '-o', 'json')
      await eventually(() => Promise.resolve(watch.stdout().includes('"waiting"')))
      assert.match(watch.stdout(), /"nodes":\{"done":0,"total":1\},"waitingFor":\["silent"\]/)
      assert.match(watch.stdout(), /"remainingSeconds":null/)
      const waiting = run('rotate', 'start', '--yes', '--wait')
      await eventually(() => Promise.resolve(waiting.stderr().includes('waiting for silent')))
      for (const one of [watch, waiting]) {
        one.child.kill('SIGINT')
        assert.deepEqual(await one.ended, [null, 'SIGINT'])
      }
      assert.match(
        waiting.stderr(),
        /Stopped: nothing is lost; run "trustadm ca rotate start --dir /,
      )

      const complete = run('rotate', 'complete', '--yes', '--wait')
      await eventually(() => Promise.resolve(complete.stderr().includes('waiting for silent')))
      await admin.nodes.delete('silent')
      assert.deepEqual(await complete.ended, [0, null])
    } finally {
      await admin.close()
    }
  })

  it('refuse wrong values before anything changes', async () => {
    for (const args of [
      ['start', '--only', 'coffee-ca'],
      ['start', '--new-ca', 'front-proxy-ca'],
      ['start', '--key-algorithm', 'ROT13'],
      ['complete', '--grace', 'soon'],
      ['complete', '--ignore-unseen-since', 'yesterday'],
      ['start', '--dry-run', '--only', 'coffee-ca'],
    ]) {
      const {code, stderr} = await ca('rotate', ...args, '--yes')
      assert.equal(code, 2, `${args.join(' ')}: ${stderr}`)
    }
    assert.equal((await ca('rotate', 'abort', '--dry-run')).code, 6)
    // Nobody is asked about what is not there: without a terminal that would be wrong usage.
    assert.equal((await ca('remove', 'nope')).code, 1)
    assert.equal((await ca('rotate', 'complete')).code, 6)
    const status = (await json('rotate', 'status')) as RotationReport
    assert.equal(status.action, undefined)
    // Days are part of a duration here.
    const conflict = await ca('rotate', 'complete', '--yes', '--ignore-unseen-since', '7d')
    assert.deepEqual(
      [conflict.code, conflict.stderr.includes('no rotation to complete')],
      [6, true],
    )
  })
})
