import assert from 'node:assert/strict'
import type {CertificateSigningRequest} from '../../../src/api/certificates.ts'
import type {ApiObject} from '../../../src/api/meta.ts'
import {createAdmission} from '../../../src/server/admission/index.ts'
import type {AdmissionPlugin} from '../../../src/server/admission/index.ts'
import {pendingRequestLimit} from '../../../src/server/admission/pending-request-limit.ts'
import {PendingRequests} from '../../../src/server/admission/pending-requests.ts'
import {taintNodesByCondition} from '../../../src/server/admission/taint-nodes-by-condition.ts'
import {RbacIndex} from '../../../src/server/authz/rbac/rbac-index.ts'
import type {Authorize} from '../../../src/server/resource.ts'
import {admit, type Situation} from './support.ts'

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
  const request = (username: string, status: object = {}): CertificateSigningRequest => ({
    metadata: {},
    spec: {request: '', signerName: 'example.com/x', username},
    status,
  })
  const countOf = (all: CertificateSigningRequest[]) => {
    const pending = new PendingRequests()
    all.forEach((one, index) => pending.set(`r${index}`, one))
    return pending
  }
  const create = (pending: PendingRequests, situation: Situation = {}) =>
    admit(
      pendingRequestLimit(pending, 2),
      {resource: 'certificatesigningrequests', object: {metadata: {}}},
      situation,
    )

  it('refuses one more than the limit, and says when to come back', async () => {
    await assert.rejects(create(countOf([request('ann'), request('ann')])), {
      code: 429,
      headers: {'Retry-After': '30'},
    })
  })

  it('holds nobody back who may delete requests', async () => {
    const asked: unknown[] = []
    const authorize: Authorize = (_user, {verb, resource}) => {
      asked.push([verb, resource?.group, resource?.resource])
      return {allowed: true, reason: ''}
    }
    await create(countOf([request('ann'), request('ann')]), {authorize})
    assert.deepEqual(asked, [['delete', 'certificates.k8s.io', 'certificatesigningrequests']])
  })

  const harmless: [string, CertificateSigningRequest][] = [
    ['of others', request('bob')],
    ['that were approved', request('ann', {conditions: [{type: 'Approved'}]})],
    ['that were denied', request('ann', {conditions: [{type: 'Denied'}]})],
    ['that have failed', request('ann', {conditions: [{type: 'Failed'}]})],
    ['that were issued', request('ann', {certificate: 'x'})],
  ]
  for (const [name, other] of harmless) {
    it(`does not count requests ${name}`, async () => {
      await create(countOf([request('ann'), other, other]))
    })
  }

  it('counts a condition that decides nothing as none', async () => {
    const odd = request('ann', {conditions: [{type: 'Seen'}]})
    await assert.rejects(create(countOf([odd, odd])), {code: 429})
  })

  it('forgets requests that were decided or deleted, and counts none twice', async () => {
    const pending = countOf([request('ann'), request('ann')])
    pending.set('r0', request('ann'))
    assert.equal(pending.countOf('ann'), 2)
    pending.set('r0', request('ann', {conditions: [{type: 'Denied'}]}))
    pending.delete('r1')
    pending.delete('r1')
    assert.equal(pending.countOf('ann'), 0)
    await create(pending)
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
