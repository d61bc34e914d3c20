import assert from 'node:assert/strict'
import {SharedStore, type SharedStorage} from '../../storage/shared-storage.ts'
import {
  bootstrapToken,
  boundPod,
  letReaders,
  startMembers,
  type Grant,
  type Member,
} from './support.ts'

describe('a server that has not heard yet what another one has acknowledged', () => {
  let handles: SharedStorage[]
  let one: Member
  let two: Member

  before(async () => {
    const store = new SharedStore()
    handles = []
    const members = await startMembers(() => {
      const handle = store.open()
      handles.push(handle)
      return handle
    })
    ;[one, two] = members as [Member, Member]
    await letReaders(one)
  })
  after(async () => {
    await one.server.stop()
    await two.server.stop()
  })

  /** Does something at the first server, and asks the second one before it has heard of it. */
  async function askLate(change: Promise<void>, ask: () => Promise<number>): Promise<number> {
    const [, late] = handles
    await change
    let isAnswered = false
    const answer = ask().finally(() => (isAnswered = true))
    for (let turn = 0; turn < 20; turn++) await new Promise(setImmediate)
    assert.equal(isAnswered, false, 'answered from a memory that is behind')
    late?.release()
    return answer
  }
  const hold = () => handles[1]?.hold()

  const grants: Record<string, Grant> = {
    'the right of a node to read what its pod needs': boundPod('late'),
    'a bootstrap token': bootstrapToken('latest'),
  }
  for (const [what, grant] of Object.entries(grants)) {
    it(`honours ${what}, and refuses it once it is withdrawn`, async () => {
      assert.equal(await grant.use(two), grant.refusal)
      hold()
      assert.equal(await askLate(grant.give(one), () => grant.use(two)), 200)
      hold()
      assert.equal(await askLate(grant.withdraw(one), () => grant.use(two)), grant.refusal)
    })
  }

  it('writes nothing for a caller who has lost the right', async () => {
    const BINDINGS = '/apis/rbac.authorization.k8s.io/v1/clusterrolebindings'
    const PATH = '/api/v1/namespaces/default/configmaps/c'
    const apiGroup = 'rbac.authorization.k8s.io'
    await one.api.post('/api/v1/namespaces/default/configmaps', {metadata: {name: 'c'}})
    await one.api.post(BINDINGS, {
      metadata: {name: 'jane'},
      roleRef: {apiGroup, kind: 'ClusterRole', name: 'edit'},
      subjects: [{apiGroup, kind: 'User', name: 'jane'}],
    })
    const jane = two.api.as('jane')
    assert.equal((await jane.patch(PATH, {data: {k: 'before'}})).status, 200)
    hold()
    const withdrawn = one.api.delete(`${BINDINGS}/jane`).then(({status}) => {
      assert.equal(status, 200)
    })
    const patched = async () => (await jane.patch(PATH, {data: {k: 'after'}})).status
    assert.equal(await askLate(withdrawn, patched), 403)
    assert.deepEqual((await one.api.get(PATH)).body.data, {k: 'before'})
  })

  it('creates in a namespace that is new elsewhere', async () => {
    hold()
    const made = one.api.post('/api/v1/namespaces', {metadata: {name: 'new'}}).then(() => undefined)
    const ask = async () =>
      (await two.api.post('/api/v1/namespaces/new/configmaps', {metadata: {name: 'c'}})).status
    assert.equal(await askLate(made, ask), 201)
  })

  it('creates nothing for a caller who has lost the right, and reviews as those do who know', async () => {
    const BINDINGS = '/apis/rbac.authorization.k8s.io/v1/clusterrolebindings'
    const apiGroup = 'rbac.authorization.k8s.io'
    const binding = (name: string) => ({
      metadata: {name},
      roleRef: {apiGroup, kind: 'ClusterRole', name: 'cluster-admin'},
      subjects: [{apiGroup, kind: 'User', name: 'mallory'}],
    })
    assert.equal((await one.api.post(BINDINGS, binding('first'))).status, 201)
    const review = {spec: {user: 'mallory', nonResourceAttributes: {path: '/', verb: 'get'}}}
    const isAllowed = async () => {
      const {body} = await two.api.post(
        '/apis/authorization.k8s.io/v1/subjectaccessreviews',
        review,
      )
      return Number(body.status.allowed)
    }
    assert.equal(await isAllowed(), 1)
    hold()
    const withdrawn = one.api.delete(`${BINDINGS}/first`).then(() => undefined)
    const answers: number[] = []
    const create = async () =>
      (await two.api.as('mallory').post(BINDINGS, binding('second'))).status
    await askLate(withdrawn, async () => {
      answers.push(...(await Promise.all([create(), isAllowed()])))
      return 0
    })
    assert.deepEqual(answers, [403, 0])
    assert.equal((await one.api.get(`${BINDINGS}/second`)).status, 404)
  })

  it('refuses at once if the store does not respond', async () => {
    const [, late] = handles
    const asked = late!.revision
    late!.revision = () => Promise.reject(new Error('no connection'))
    try {
      const headers = {authorization: 'Bearer abcdef.0123456789abcdef'}
      assert.equal((await two.api.anonymous().get('/version', {headers})).status, 401)
    } finally {
      late!.revision = asked
    }
  })
})
