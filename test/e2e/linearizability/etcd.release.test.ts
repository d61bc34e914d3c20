import assert from 'node:assert/strict'
import {linearizability} from '../../../soak/linearizability/linearizability.ts'
import {describeWithEtcd} from '../../helpers/etcd.ts'

describeWithEtcd('three servers that are killed and stopped', function () {
  this.timeout(240_000)

  it('are linearizable, lose nothing, and give no name to two machines', async () => {
    const {signal} = new AbortController()
    const findings = await linearizability({kills: 3, signal})
    assert.deepEqual(findings.faults, [])
    assert.equal(findings.recoveries.length, 3)
    for (const {what, milliseconds} of findings.recoveries)
      assert.ok(milliseconds !== undefined, `controllers did not go on: ${what}`)
    assert.ok(findings.acknowledged > 0 && findings.reads > 0)
    assert.ok(findings.events >= findings.acknowledged)
  })
})
