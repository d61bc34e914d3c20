import assert from 'node:assert/strict'
import type {ApiObject} from '../../../src/api/meta.ts'
import {createAdmission} from '../../../src/server/admission/index.ts'
import type {AdmissionPlugin} from '../../../src/server/admission/index.ts'
import {pendingRequestLimit} from '../../../src/server/admission/pending-request-limit.ts'
import {taintNodesByCondition} from '../../../src/server/admission/taint-nodes-by-condition.ts'
import {RbacIndex} from '../../../src/server/authz/rbac/rbac-index.ts'
import {admit} from './support.ts'

const TAINT = {key: 'node.kubernetes.io/not-ready', effect: 'NoSchedule'}

describe('TaintNodesByCondition', () => {
  const create = async (object: ApiObject) =>
    (await admit(taintNodesByCondition, {resource: 'nodes', object})) as {
      spec?: {taints?: object[]}
    }

  it('taints a new node', async () => {
    assert.deepEqual((await create({metadata: {}})).spec?.taints, [TAINT])
  })

  it('keeps other taints, and does not repeat its own', async () => {
    const other = {key: 'a', effect: 'NoExecute'}
    assert.deepEqual((await create({metadata: {}, spec: {taints: [other]}})).spec?.taints, [
      other,
      TAINT,
    ])
    assert.deepEqual((await create({metadata: {}, spec: {taints: [TAINT]}})).spec?.taints, [TAINT])
  })

  it('leaves nodes alone that are there', async () => {
    const object = {metadata: {}}
    await admit(taintNodesByCondition, {resource: 'nodes', verb: 'update', object})
    assert.deepEqual(object, {metadata: {}})
  })
})

describe('PendingRequestLimit', () => {
  const request = (username: string, status: object = {}) => ({
    metadata: {},
    spec: {username},
    status,
  })
  const requests = (...all: ApiObject[]) =>
    Object.fromEntries(all.map((one, index) => [`certificatesigningrequests//r${index}`, one]))
  const create = (...all: ApiObject[]) =>
    admit(
      pendingRequestLimit(2),
      {resource: 'certificatesigningrequests', object: {metadata: {}}},
      {objects: requests(...all)},
    )

  it('refuses one more than the limit, and says when to come back', async () => {
    await assert.rejects(create(request('ann'), request('ann')), {
      code: 429,
      headers: {'Retry-After': '30'},
    })
  })

  const harmless: [string, ApiObject][] = [
    ['of others', request('bob')],
    ['that were approved', request('ann', {conditions: [{type: 'Approved'}]})],
    ['that were issued', request('ann', {certificate: 'x'})],
  ]
  for (const [name, other] of harmless) {
    it(`does not count requests ${name}`, async () => {
      await create(request('ann'), other, other)
    })
  }
})

describe('createAdmission', () => {
  it('runs the further plugins last', async () => {
    const seen: unknown[] = []
    const further: AdmissionPlugin = {
      name: 'further',
      admit: ({object}) => void seen.push(object?.spec),
    }
    const plugin = {name: 'all', admit: createAdmission(new RbacIndex(), [further])}
    await admit(plugin, {resource: 'nodes', object: {metadata: {name: 'n'}}})
    assert.deepEqual(seen, [{taints: [TAINT]}])
  })

  it('stops at the first refusal', async () => {
    const further: AdmissionPlugin = {
      name: 'further',
      admit: () => assert.fail('it must not be asked'),
    }
    const plugin = {name: 'all', admit: createAdmission(new RbacIndex(), [further])}
    await assert.rejects(
      admit(plugin, {resource: 'configmaps', object: {metadata: {}}}, {namespace: 'gone'}),
      {code: 404},
    )
  })
})
