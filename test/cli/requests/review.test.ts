import assert from 'node:assert/strict'
import {reviewRequests, type Reviewer} from '../../../src/cli/requests/review.ts'
import type {ApiClient} from '../../../src/client/api-client.ts'
import {findCondition} from '../../../src/csr/conditions.ts'
import {systemClock} from '../../../src/runtime.ts'
import {addCondition, makeRequest} from '../../control-plane/requests/support.ts'
import {ADMIN, startTestServer, type TestServer} from '../../helpers/test-server.ts'

type Answer = Awaited<ReturnType<Reviewer['choose']>>

describe('a review', () => {
  let server: TestServer
  let admin: ApiClient
  let shown = ''
  let told: string[] = []
  before(async () => {
    server = await startTestServer({controllers: false})
    admin = server.clientAs(ADMIN)
  })
  after(() => server.stop())
  beforeEach(() => {
    shown = ''
    told = []
  })
  afterEach(() => admin.csrs.deleteCollection({}))

  /** Answers by the name of the request that is asked about. */
  const review = (answer: (name: string) => Answer | Promise<Answer>, why = '', filter = {}) => {
    const reviewer: Reviewer = {
      choose: async (question) => await answer(question.split(':')[0] ?? ''),
      askText: () => Promise.resolve(why),
      tell: (line) => told.push(line),
      stream: {isTTY: false, columns: 0, write: (text) => ((shown += String(text)), true)},
    }
    return reviewRequests(admin, filter, reviewer, systemClock, () =>
      Promise.resolve('acorn bagel cabin daring'),
    )
  }
  const answers: Record<string, Answer> = {yes: 'approve', no: 'deny', later: 'skip'}

  it('decides as the person says, and shows each request before', async () => {
    for (const name of ['yes', 'no', 'later']) await makeRequest(admin, {name})
    const result = await review((name) => answers[name] ?? 'quit', 'we do not know you')
    assert.deepEqual(result, {approved: ['yes'], denied: ['no'], skipped: ['later'], failed: []})
    assert.equal(shown.match(/subject +CN=ada/g)?.length, 3)
    assert.equal(shown.match(/pairing words +acorn bagel cabin daring/g)?.length, 3)
    const denied = findCondition(await admin.csrs.get({name: 'no'}), 'Denied')
    assert.equal(denied?.message, 'we do not know you')
    assert.equal((await admin.csrs.get({name: 'later'})).status?.conditions, undefined)
  })

  it('passes over what is decided, and what the filter leaves out', async () => {
    await makeRequest(admin, {name: 'done'})
    await addCondition(admin, 'done', 'Approved')
    await makeRequest(admin, {name: 'other', signer: 'example.com/other'})
    await makeRequest(admin, {name: 'yes'})
    const result = await review(() => 'approve', '', {signers: ['example.com/other']})
    assert.deepEqual(result.approved, ['other'])
  })

  it('stops when the person has enough, and leaves the rest', async () => {
    await makeRequest(admin, {name: 'a'})
    const result = await review(() => 'quit')
    assert.deepEqual(result, {approved: [], denied: [], skipped: [], failed: []})
    assert.deepEqual(told, ['no request was decided'])
  })

  it('says that no requests are pending, and returns the same lists as ever', async () => {
    await makeRequest(admin, {name: 'done'})
    await addCondition(admin, 'done', 'Approved')
    const result = await review(() => 'approve')
    assert.deepEqual(result, {approved: [], denied: [], skipped: [], failed: []})
    assert.deepEqual(told, ['no pending certificate requests found'])
  })

  it('shows requests that came meanwhile, each once', async () => {
    await makeRequest(admin, {name: 'first'})
    const asked: string[] = []
    await review(async (name): Promise<Answer> => {
      asked.push(name)
      if (name === 'first') await makeRequest(admin, {name: 'second'})
      return 'skip'
    })
    assert.deepEqual(asked, ['first', 'second'])
  })

  it('goes on where somebody else decided the other way meanwhile', async () => {
    await makeRequest(admin, {name: 'a'})
    await makeRequest(admin, {name: 'b'})
    const result = await review(async (name): Promise<Answer> => {
      if (name === 'a') await addCondition(admin, 'a', 'Denied')
      return 'approve'
    })
    assert.deepEqual(result, {approved: ['b'], denied: [], skipped: [], failed: ['a']})
    assert.match(shown, /"a" is already denied/)
  })
})
