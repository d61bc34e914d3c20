import assert from 'node:assert/strict'
import type {ApiObject} from '../../../src/api/meta.ts'
import {
  createAdmission,
  eventRateLimit,
  taintNodesByCondition,
} from '../../../src/server/admission/index.ts'
import type {AdmissionPlugin} from '../../../src/server/kernel/admission.ts'
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

describe('EventRateLimit', () => {
  const limit = eventRateLimit({perSecond: 1, burst: 2, keys: 10})
  const write = (username: string, group: string) =>
    admit(limit, {resource: 'events', object: {metadata: {}}}, {user: {username, groups: [group]}})

  it('keeps a node from pushing the Events of others out, and holds nobody else back', async () => {
    for (let count = 0; count < 2; count++) await write('system:node:a', 'system:nodes')
    await assert.rejects(write('system:node:a', 'system:nodes'), {code: 429})
    await write('system:node:b', 'system:nodes')
    for (let count = 0; count < 3; count++) await write('controller', 'system:serviceaccounts')
  })
})

describe('createAdmission', () => {
  it('runs the further plugins last', async () => {
    const seen: unknown[] = []
    const further: AdmissionPlugin = {
      name: 'further',
      admit: ({object}) => void seen.push(object?.spec),
    }
    const plugin = {name: 'all', ...createAdmission(new RbacIndex(), [further])}
    await admit(plugin, {resource: 'nodes', object: {metadata: {name: 'n'}}})
    assert.deepEqual(seen, [{taints: [TAINT]}])
  })

  it('stops at the first refusal', async () => {
    const further: AdmissionPlugin = {
      name: 'further',
      admit: () => assert.fail('it must not be asked'),
    }
    const plugin = {name: 'all', ...createAdmission(new RbacIndex(), [further])}
    await assert.rejects(
      admit(plugin, {resource: 'configmaps', object: {metadata: {}}}, {namespace: 'gone'}),
      {code: 404},
    )
  })
})
