import assert from 'node:assert/strict'
import type {CertificateSigningRequest} from '../../../src/api/certificates.ts'
import {TrustError} from '../../../src/errors.ts'
import {requestLimit} from '../../../src/server/admission/request-limit.ts'
import {RequestUsage} from '../../../src/server/admission/request-usage.ts'
import type {Authorize} from '../../../src/server/kernel/resource.ts'
import {StatusError} from '../../../src/server/kernel/status.ts'
import {TestClock} from '../authn/support.ts'
import {wished} from '../../controllers/approval/support.ts'
import {admit, type Situation} from './support.ts'

const NOW = new TestClock().now()
describe('CertificateRequestLimit', () => {
  const request = (username: string, status: object = {}): CertificateSigningRequest => ({
    metadata: {creationTimestamp: NOW.toISOString()},
    spec: {request: '', signerName: 'example.com/x', username},
    status,
  })
  const countOf = (all: CertificateSigningRequest[]) => {
    const usage = new RequestUsage()
    all.forEach((one, index) => usage.set(`r${index}`, one, 10))
    return usage
  }
  const usageOf = (usage: RequestUsage, now = NOW) => {
    const {pending, bytes, made} = usage.of({username: 'ann'}, now)
    return {pending, bytes, made: made.length}
  }
  const few = {pending: 2, pendingForNode: 2, perHour: 10, bytes: 100}

  it('counts those of the last hour, in whatever order they were read', () => {
    const minutes = (count: number) => new Date(NOW.getTime() + count * 60_000)
    const made = [5, 50, 20].map((age) => ({
      ...request('ann'),
      metadata: {creationTimestamp: minutes(-age).toISOString()},
    }))
    const usage = countOf(made)
    assert.deepEqual(
      [0, 15, 45, 60].map((later) => usageOf(usage, minutes(later)).made),
      [3, 2, 1, 0],
    )
  })
  const catchUp = () => Promise.resolve()
  const create = (usage: RequestUsage, situation: Situation = {}, forOthers = few) =>
    admit(
      requestLimit(usage, {allowances: {forNodes: {...few, perHour: 4}, forOthers}, catchUp}),
      {resource: 'certificatesigningrequests', object: {metadata: {}}},
      situation,
    )

  it('refuses one more than the limit, and says when to come back', async () => {
    await assert.rejects(create(countOf([request('ann'), request('ann')])), {
      code: 429,
      headers: {'Retry-After': '30'},
    })
  })

  const confirm = (
    usage: RequestUsage,
    name: string,
    {most = few, caughtUp = catchUp, uid = ''} = {},
  ) => {
    const limit = requestLimit(usage, {
      allowances: {forNodes: most, forOthers: most},
      catchUp: caughtUp,
    })
    return admit(
      {name: '', ...(limit.confirm && {admit: limit.confirm})},
      {resource: 'certificatesigningrequests', name, object: {metadata: uid === '' ? {} : {uid}}},
    )
  }

  it('keeps the first of those that were stored at the same time, and refuses the rest', async () => {
    const usage = countOf([1, 2, 3, 4].map(() => request('ann')))
    await confirm(usage, 'r0')
    await confirm(usage, 'r1')
    await assert.rejects(confirm(usage, 'r2'), {code: 429})
    await assert.rejects(confirm(usage, 'r3'), {code: 429})
    await confirm(usage, 'deleted-meanwhile')
  })

  it('refuses those that exceed the bytes only together with others', async () => {
    const usage = countOf([1, 2, 3, 4].map(() => request('ann')))
    const most = {pending: 10, pendingForNode: 10, perHour: 10, bytes: 20}
    await confirm(usage, 'r0', {most})
    await confirm(usage, 'r1', {most})
    await assert.rejects(confirm(usage, 'r2', {most}), /of "ann" take 20 bytes/)
    await assert.rejects(confirm(usage, 'r3', {most}), /of "ann" take 30 bytes/)
  })

  it('waits until one that was just stored is counted, and refuses it if that takes too long', async () => {
    const usage = countOf([request('ann'), request('ann')])
    const late = () => Promise.resolve(usage.set('late', request('ann'), 10))
    await assert.rejects(confirm(usage, 'late', {caughtUp: late}), {code: 429})
    const never = () => Promise.reject(new StatusError(504, 'Timeout', 'too late'))
    await assert.rejects(confirm(usage, 'never', {caughtUp: never}), {
      code: 503,
      message: /is reloading its objects/,
      headers: {'Retry-After': '1'},
    })
  })

  it('does not take an older one of the same name for one that was just stored', async () => {
    const named = (uid: string) => ({
      ...request('ann'),
      metadata: {...request('ann').metadata, uid},
    })
    const usage = new RequestUsage()
    usage.set('again', named('old'), 10)
    for (const name of ['a', 'b']) usage.set(name, request('ann'), 10)
    const caughtUp = () => Promise.resolve(usage.set('again', named('new'), 10))
    await assert.rejects(confirm(usage, 'again', {caughtUp, uid: 'new'}), {code: 429})
    assert.equal(usageOf(usage).pending, 3)
  })

  it('tells why one that was just stored cannot be counted', async () => {
    const failure = new TrustError('STORE_UNREACHABLE', 'etcd does not respond')
    const caughtUp = () => Promise.reject(failure)
    await assert.rejects(confirm(countOf([]), 'never', {caughtUp}), failure)
  })

  it('counts each credential of a fleet by itself, which is one user', async () => {
    const by = (credential: string) => ({
      username: 'system:serviceaccount:kube-system:node-bootstrapper',
      groups: [],
      extra: {'authentication.kubernetes.io/credential-id': [credential]},
    })
    const made = request('')
    const usage = countOf([1, 2].map(() => ({...made, spec: {...made.spec, ...by('JTI=stolen')}})))
    await assert.rejects(create(usage, {user: by('JTI=stolen')}), {code: 429})
    await create(usage, {user: by('JTI=new')})
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

  describe('for one node', () => {
    const MANY = {...few, pending: 10}
    const asking = async (node: string, uid = 'u') => {
      const {spec} = await wished({commonName: `system:node:${node}`, username: 'ann'})
      return {metadata: {creationTimestamp: NOW.toISOString(), uid}, spec, status: {}}
    }
    const ask = async (usage: RequestUsage, node: string) =>
      admit(requestLimit(usage, {allowances: {forNodes: MANY, forOthers: MANY}, catchUp}), {
        resource: 'certificatesigningrequests',
        object: await asking(node),
      })

    it('refuses one more than the limit, and none for another node', async () => {
      const usage = countOf([await asking('one'), await asking('one'), await asking('other')])
      await assert.rejects(ask(usage, 'one'), {
        code: 429,
        message: /^2 certificate signing requests of "ann" for the same node are pending/,
      })
      await ask(usage, 'other')
      usage.set('r0', {...(await asking('one')), status: {certificate: 'x'}}, 10)
      await ask(usage, 'one')
    })

    it('keeps the first of those that were stored at the same time', async () => {
      const usage = countOf(await Promise.all(['u', 'v', 'w'].map((uid) => asking('one', uid))))
      await confirm(usage, 'r1', {most: MANY, uid: 'v'})
      await assert.rejects(confirm(usage, 'r2', {most: MANY, uid: 'w'}), {code: 429})
    })
  })

  it('counts a condition that decides nothing as none', async () => {
    const odd = request('ann', {conditions: [{type: 'Seen'}]})
    await assert.rejects(create(countOf([odd, odd])), {code: 429})
  })

  it('forgets requests that were decided or deleted, and counts none twice', async () => {
    const usage = countOf([request('ann'), request('ann')])
    usage.set('r0', request('ann'), 20)
    assert.deepEqual(usageOf(usage), {pending: 2, bytes: 30, made: 2})
    usage.set('r0', request('ann', {conditions: [{type: 'Denied'}]}), 20)
    usage.delete('r1')
    usage.delete('r1')
    assert.deepEqual(usageOf(usage), {pending: 0, bytes: 20, made: 2})
    await create(usage)
  })

  const issued = () => request('ann', {certificate: 'x'})
  const many = (count: number) => countOf(Array.from({length: count}, issued))

  it('refuses more requests within an hour than a requester may make, also if all were issued', async () => {
    const error = await create(many(4), {}, {...few, perHour: 4}).catch((one: unknown) => one)
    assert.ok(error instanceof StatusError)
    assert.deepEqual([error.code, error.headers], [429, {'Retry-After': '60'}])
    assert.match(error.message, /"ann" has made 4 certificate signing requests within an hour/)
  })

  it('gives a node fewer than a token', async () => {
    const user = {username: 'ann', groups: ['system:nodes']}
    await create(many(4))
    await assert.rejects(create(many(4), {user}), {code: 429})
  })

  it('counts a request for an hour', () => {
    const usage = many(9)
    assert.equal(usageOf(usage, new Date(NOW.getTime() + 3_599_000)).made, 9)
    assert.equal(usageOf(usage, new Date(NOW.getTime() + 3_600_000)).made, 0)
  })

  it('refuses more bytes than the requests of one requester may take', async () => {
    const usage = many(3)
    usage.set('large', issued(), 70)
    await assert.rejects(create(usage), /of "ann" take 100 bytes/)
  })
})
