import assert from 'node:assert/strict'
import {copyFile, writeFile} from 'node:fs/promises'
import {join} from 'node:path'
import type {RotationReport} from '../../src/control-plane/ca-rotation/report.ts'
import {privateKeyPem} from '../../src/pki/keys.ts'
import {programFixture, trustadm, type ProgramFixture} from '../helpers/program.ts'
import {start, type Running} from '../helpers/running.ts'
import {testAuthority, validAround} from '../pki/support.ts'

const LEGACY = 'cluster-signing-legacy-unknown'

describe('signers with CAs that an operator names, while the CAs rotate', function () {
  this.timeout(180_000)
  let fixture: ProgramFixture
  let elsewhere: Running | undefined
  const file = (name: string) => join(fixture.folder, name)
  const rotate = (action: string, ...more: string[]) =>
    trustadm('ca', 'rotate', action, '--dir', fixture.dir, '-o', 'json', ...more)
  const status = async () => JSON.parse((await rotate('status')).stdout) as RotationReport

  before(async () => {
    fixture = await programFixture()
    const foreign = await testAuthority({
      commonName: 'foreign',
      validity: validAround(new Date(), 30),
    })
    await writeFile(file('foreign.crt'), foreign.pem)
    await writeFile(file('foreign.key'), privateKeyPem(foreign.keys.privateKey), {mode: 0o600})
    const flags = [`--${LEGACY}-cert-file`, file('foreign.crt'), `--${LEGACY}-key-file`]
    const made = await fixture.init(...flags, file('foreign.key'))
    assert.equal(made.code, 0, made.stderr)
    for (const name of ['ca.crt', 'ca.key', 'super-admin.conf'])
      await copyFile(join(fixture.dir, name.startsWith('ca') ? 'pki' : '', name), file(name))
  })
  after(async () => {
    await elsewhere?.stop()
    await fixture.remove()
  })

  it('are named, hold up no start, and hold up the completion while they use an old CA', async () => {
    elsewhere = await start(
      ...['controllers', '--kubeconfig', file('super-admin.conf'), '--controllers', 'csrsigning'],
      ...['--cluster-signing-cert-file', file('ca.crt')],
      ...['--cluster-signing-key-file', file('ca.key'), '--issuance-log', file('issuance.log')],
    )
    const started = await rotate('start', '--yes')
    assert.equal(started.code, 0, started.stderr)
    const {advice, dependents, isSettled} = await status()
    assert.equal(isSettled, true)
    const told = advice.join('\n')
    assert.match(told, /kubernetes\.io\/legacy-unknown is signed on .*foreign\.crt/)
    assert.match(told, /kubernetes\.io\/kubelet-serving is signed on .*ca\.crt/)
    const signers = dependents.filter(({kind}) => kind === 'signer')
    // The server's own signer with another CA is nobody who would be locked out.
    assert.ok(signers.some(({name}) => name === 'kubernetes.io/kubelet-serving'))
    assert.ok(signers.every(({reasons}) => reasons.every((one) => one.includes(file('ca.crt')))))

    // Its kubeconfig is of the old CA too.
    const ignored = ['--ignore', 'kubernetes-super-admin,replaced-here']
    const refused = await rotate('complete', '--yes', ...ignored)
    assert.equal(refused.code, 6)
    assert.match(
      refused.stderr,
      /signer kubernetes\.io\/kubelet-serving: signs on .* with the old CA/,
    )

    assert.equal(await elsewhere.stop(), 0)
    elsewhere = undefined
    const completed = await rotate('complete', '--yes', ...ignored)
    assert.equal(completed.code, 0, completed.stderr)
  })
})
