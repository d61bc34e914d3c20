import assert from 'node:assert/strict'
import {priorityAdmission} from '../../../src/server/admission/priority.ts'
import {admit} from './support.ts'

const create = async (spec: object) =>
  (await admit(priorityAdmission, {resource: 'pods', object: {metadata: {name: 'p'}, spec}})) as {
    spec?: object
  }

describe('Priority', () => {
  const priorities: [spec: object, priority: number][] = [
    [{}, 0],
    [{priority: 0, preemptionPolicy: 'PreemptLowerPriority'}, 0],
    [{priorityClassName: 'system-node-critical'}, 2_000_001_000],
    [{priorityClassName: 'system-cluster-critical'}, 2_000_000_000],
  ]
  for (const [spec, priority] of priorities) {
    it(`gives ${JSON.stringify(spec)} the priority ${priority}`, async () => {
      const preemptionPolicy = 'PreemptLowerPriority'
      assert.deepEqual((await create(spec)).spec, {...spec, priority, preemptionPolicy})
    })
  }

  const refusals: [spec: object, why: string][] = [
    [{priorityClassName: 'high'}, 'no PriorityClass with name high was found'],
    [
      {priority: 5},
      'the integer value of priority (5) must not be provided in pod spec; priority admission controller computed 0 from the given PriorityClass name',
    ],
    [
      {preemptionPolicy: 'Never'},
      'the string value of PreemptionPolicy (Never) must not be provided in pod spec; priority admission controller computed PreemptLowerPriority from the given PriorityClass name',
    ],
  ]
  for (const [spec, why] of refusals) {
    it(`refuses ${JSON.stringify(spec)}`, async () => {
      await assert.rejects(create(spec), {code: 403, message: `pods "p" is forbidden: ${why}`})
    })
  }

  it('leaves pods alone that are there', async () => {
    const object = {metadata: {}, spec: {priority: 5}}
    await admit(priorityAdmission, {resource: 'pods', verb: 'update', object})
    assert.deepEqual(object.spec, {priority: 5})
  })
})
