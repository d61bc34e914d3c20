import assert from 'node:assert/strict'
import {readdir, readFile} from 'node:fs/promises'
import {join} from 'node:path'
import {writeRest} from '../../../src/control-plane/ca-rotation/shared-rest.ts'
import {parseBundle} from '../../../src/pki/bundle.ts'
import {parseCertificate} from '../../../src/pki/certificate.ts'
import {systemClock} from '../../../src/runtime.ts'
import {silent} from './support.ts'
import {TwoMachines} from './two-machines.ts'

describe('a machine that has missed rotations of another one', () => {
  let machines: TwoMachines

  beforeEach(async () => {
    machines = await TwoMachines.create()
  })
  afterEach(() => machines.remove())

  const pki = async (name: string) =>
    (await readFile(join(machines.follower.dir, 'pki', name))).toString()
  const missOne = async () => {
    await machines.rotate('start')
    await machines.rotate('complete')
  }
  /** Whether a server or its clients would accept what the follower presents. */
  const requireAccepted = async () => {
    for (const [leaf, ca] of [
      ['apiserver.crt', 'ca.crt'],
      ['apiserver-kubelet-client.crt', 'kubelet-ca.crt'],
    ] as const) {
      const {authorityKeyId} = parseCertificate(await pki(leaf))
      const trusted = parseBundle(await pki(ca)).map(({subjectKeyId}) => subjectKeyId)
      assert.ok(trusted.includes(authorityKeyId), leaf)
    }
  }

  it('has no certificate of a CA that is retired while the next ones are prepared', async () => {
    await missOne()
    await machines.rotate('start')
    assert.equal(await machines.follow(), true)
    await requireAccepted()
    const renewed = await pki('apiserver.crt')
    await machines.rotate('abort')
    assert.equal(await machines.follow(), true)
    assert.equal(await pki('apiserver.crt'), renewed)
  })

  it('renews its certificates also if it was killed after it had written the CAs', async () => {
    await missOne()
    await machines.rotate('start', undefined, ['sa'])
    const {plane} = machines.follower.context
    assert.notDeepEqual(
      await writeRest(plane, await machines.shared(), {
        isArranged: true,
        clock: systemClock,
        log: silent,
      }),
      [],
    )
    assert.equal(await machines.follow(), true)
    await requireAccepted()
  })

  it('keeps nothing of an earlier rotation when the next one begins', async () => {
    await machines.rotate('start', async () => {
      await machines.follow()
    })
    await machines.rotate('complete')
    await machines.begin()
    assert.equal(await machines.follow(), true)
    assert.ok(!(await readdir(join(machines.follower.dir, 'pki'))).includes('rotation'))
    await requireAccepted()
  })
})
