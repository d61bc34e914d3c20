import assert from 'node:assert/strict'
import {objections} from '../../../src/controllers/approval/opinion.ts'
import {machinesOf, voucherFor} from '../../../src/controllers/approval/registered.ts'
import {servingOpinion} from '../../../src/controllers/approval/serving-approver.ts'
import {SERVING_BASE, SERVING_CASES, machine} from './serving-cases.ts'
import {readable, wished} from './support.ts'

describe('the kubelet-serving approver', () => {
  for (const row of SERVING_CASES) {
    const {name, decision, says, machines = [machine('test')]} = row
    const verb = {approve: 'approves', hold: 'holds', ignore: 'ignores'}[decision]
    const opinionOf = async (deny: boolean) => {
      const csr = await wished({...SERVING_BASE, ...row.wish})
      const asked = readable(csr)
      const voucher =
        asked.node === undefined
          ? undefined
          : voucherFor(asked.node, {node: row.node, machines: machinesOf(asked.node, machines)})
      return servingOpinion(csr, asked, {voucher, deny})
    }

    it(`${verb} where ${name}`, async () => {
      const opinion = await opinionOf(false)
      assert.equal(opinion.decision, decision, objections(opinion))
      if (says !== undefined) assert.match(objections(opinion), says)
    })

    if (decision === 'hold') {
      const denied = row.mayBecomeRight ? 'hold' : 'deny'
      it(`with the policy to deny it says ${denied} where ${name}`, async () => {
        assert.equal((await opinionOf(true)).decision, denied)
      })
    }
  }
})
