import assert from 'node:assert/strict'
import {mock} from 'node:test'
import {openMemoryStorage} from '../../../src/storage/memory.ts'
import {startTestServer, type TestServer} from '../../helpers/test-server.ts'
import {Api, type AnyBody} from '../support.ts'

const PATH = '/api/v1/namespaces/default/configmaps'
const names = ({items}: AnyBody) => items.map(({metadata}) => metadata.name)

describe('list', () => {
  const storage = openMemoryStorage()
  let server: TestServer
  let api: Api

  const create = (name: string, labels = {}) => api.post(PATH, {metadata: {name, labels}})

  before(async () => {
    server = await startTestServer({storage, controllers: false})
    api = new Api(server.handler)
  })
  after(() => server.stop())

  beforeEach(async () => {
    await api.delete(PATH)
    for (const name of ['e', 'b', 'd', 'a', 'c'])
      await create(name, {odd: String('ace'.includes(name))})
  })

  it('is sorted, of the kind List, with bare items and the revision of the store', async () => {
    const {status, body} = await api.get(PATH)
    assert.equal(status, 200)
    assert.deepEqual([body.kind, body.apiVersion], ['ConfigMapList', 'v1'])
    assert.deepEqual(body.metadata, {resourceVersion: String(await storage.revision())})
    assert.deepEqual(names(body), ['a', 'b', 'c', 'd', 'e'])
    assert.equal('kind' in body.items[0]! || 'apiVersion' in body.items[0]!, false)
  })

  it('has an empty array of items where there is nothing', async () => {
    const {body} = await api.get('/api/v1/nodes')
    assert.deepEqual(body.items, [])
  })

  it('goes over all namespaces in the order of namespace and name', async () => {
    await api.post('/api/v1/namespaces/kube-public/configmaps', {metadata: {name: 'a'}})
    const {body} = await api.get('/api/v1/configmaps')
    const keys = body.items.map(({metadata}) => `${metadata.namespace}/${metadata.name}`)
    assert.deepEqual(keys, [...keys].sort())
    assert.ok(keys.includes('default/a') && keys.includes('kube-public/a'))
  })

  it('comes in pages that all are of the first one’s revision, while others write', async () => {
    const seen: string[] = []
    const remaining: (number | undefined)[] = []
    let token = ''
    let revision = ''
    for (let page = 1; ; page++) {
      const {body} = await api.get(`${PATH}?limit=2&continue=${token}`)
      seen.push(...names(body))
      remaining.push(body.metadata.remainingItemCount)
      revision ||= body.metadata.resourceVersion
      assert.equal(body.metadata.resourceVersion, revision)
      token = body.metadata.continue ?? ''
      if (token === '') break
      await create(`aa${page}`)
      await create(`z${page}`)
      await api.delete(`${PATH}/d`)
      await api.patch(`${PATH}/e`, {data: {page: String(page)}})
    }
    assert.deepEqual(seen, ['a', 'b', 'c', 'd', 'e'])
    assert.deepEqual(remaining, [3, 1, undefined])
    assert.deepEqual(names((await api.get(PATH)).body), [
      'a',
      'aa1',
      'aa2',
      'b',
      'c',
      'e',
      'z1',
      'z2',
    ])
  })

  it('pages through a selection without counting the rest, while others write', async () => {
    const first = (await api.get(`${PATH}?limit=2&labelSelector=odd=true`)).body
    assert.deepEqual(names(first), ['a', 'c'])
    assert.equal('remainingItemCount' in first.metadata, false)
    await api.delete(`${PATH}/e`)
    await create('f', {odd: 'true'})
    const next = `${PATH}?limit=2&labelSelector=odd=true&continue=${first.metadata.continue}`
    const second = (await api.get(next)).body
    assert.deepEqual(names(second), ['e'])
    assert.equal(second.metadata.continue, undefined)
  })

  it('finds a selection that is far apart in history', async () => {
    await Promise.all(Array.from({length: 1200}, (_, index) => create(`m${index}`)))
    await create('zz', {odd: 'true'})
    const first = (await api.get(`${PATH}?limit=3&labelSelector=odd=true`)).body
    await create('zzz', {odd: 'true'})
    const token = first.metadata.continue!
    const rest = (await api.get(`${PATH}?limit=3&labelSelector=odd=true&continue=${token}`)).body
    assert.deepEqual([...names(first), ...names(rest)], ['a', 'c', 'e', 'zz'])
  })

  describe('of many objects', () => {
    const COUNT = 600
    const MANY = '/api/v1/namespaces/kube-public/configmaps'
    const add = (name: string, labels = {}) => api.post(MANY, {metadata: {name, labels}})
    /** As if each look at the clock took a while, so that this does not depend on the machine. */
    const slowly = () => {
      let now = 0
      mock.method(performance, 'now', () => (now += 0.2))
    }
    const turnsUntil = async (work: Promise<unknown>) => {
      let turns = 0
      const count = () => {
        turns++
        counting = setImmediate(count)
      }
      let counting = setImmediate(count)
      await work
      clearImmediate(counting)
      return turns
    }
    let revision = 0

    before(async () => {
      await Promise.all(Array.from({length: COUNT}, (_, n) => add(`n${n}`, {n: String(n % 2)})))
    })
    beforeEach(async () => {
      revision = await storage.revision()
      await add(`later${revision}`)
    })
    afterEach(() => mock.restoreAll())
    after(() => api.delete(MANY))

    for (const [name, query] of [
      ['of a selection', '&labelSelector=n=1'],
      ['of everything', ''],
    ] as const)
      it(`lets others run in between at an old revision, ${name}`, async () => {
        const exact = `${MANY}?resourceVersion=${revision}&resourceVersionMatch=Exact${query}`
        slowly()
        const listing = api.get(exact)
        const turns = await turnsUntil(listing)
        assert.ok((await listing).body.items.length >= COUNT / 2)
        assert.ok(turns > COUNT / 20, String(turns))
      })

    it('lets others run in between when memory is searched or watched for the first time', async () => {
      for (const query of ['labelSelector=n=1', 'labelSelector=n=1&watch=1&timeoutSeconds=1']) {
        const fresh = await startTestServer({storage, controllers: false})
        slowly()
        const turns = await turnsUntil(new Api(fresh.handler).get(`${MANY}?${query}`))
        assert.ok(turns > COUNT / 20, String(turns))
        mock.restoreAll()
        await fresh.close(0)
      }
    })

    it('reads again only what has changed since an old revision', async () => {
      await api.get(`${MANY}?labelSelector=n=1`)
      await api.patch(`${MANY}/n7`, {data: {a: 'b'}})
      const parsing = mock.method(JSON, 'parse')
      const exact = `${MANY}?resourceVersion=${revision}&resourceVersionMatch=Exact&labelSelector=n=none`
      const {body} = await api.get(exact)
      assert.deepEqual(names(body), [])
      assert.ok(parsing.mock.callCount() < 10, String(parsing.mock.callCount()))
    })

    it('finds the one object that a selector names at an old revision', async () => {
      await api.patch(`${MANY}/n7`, {metadata: {labels: {n: 'other'}}})
      const exact = `${MANY}?resourceVersion=${revision}&resourceVersionMatch=Exact`
      const found = async (fields: string) =>
        names((await api.get(`${exact}&fieldSelector=${fields}`)).body)
      assert.deepEqual(await found('metadata.name=n7'), ['n7'])
      assert.deepEqual(await found('metadata.name=n7&labelSelector=n=1'), ['n7'])
      assert.deepEqual(await found('metadata.name=n7&labelSelector=n=other'), [])
      assert.deepEqual(await found('metadata.name=n'), [])
      assert.deepEqual(await found(`metadata.name=later${revision}`), [])
    })
  })

  it('shows exactly the state of a revision, or one not older', async () => {
    const revision = await storage.revision()
    await create('f')
    const exact = await api.get(`${PATH}?resourceVersion=${revision}&resourceVersionMatch=Exact`)
    assert.deepEqual(names(exact.body), ['a', 'b', 'c', 'd', 'e'])
    assert.equal(exact.body.metadata.resourceVersion, String(revision))
    for (const query of [
      `resourceVersion=${revision}&resourceVersionMatch=NotOlderThan`,
      `resourceVersion=${revision}`,
      'resourceVersion=0',
    ]) {
      const {body} = await api.get(`${PATH}?${query}`)
      assert.deepEqual(names(body), ['a', 'b', 'c', 'd', 'e', 'f'], query)
    }
  })

  it('shows pages exactly of a revision without a match too, but not of one name or of 0', async () => {
    const revision = await storage.revision()
    await create('f')
    await api.patch(`${PATH}/a`, {data: {late: 'yes'}})
    const {body} = await api.get(`${PATH}?resourceVersion=${revision}&limit=3`)
    assert.deepEqual(names(body), ['a', 'b', 'c'])
    assert.equal(body.items[0]?.data, undefined)
    assert.equal(body.metadata.resourceVersion, String(revision))
    const rest = await api.get(`${PATH}?limit=3&continue=${body.metadata.continue}`)
    assert.deepEqual(names(rest.body), ['d', 'e'])

    for (const query of [
      `resourceVersion=${revision}&limit=3&resourceVersionMatch=NotOlderThan`,
      `resourceVersion=${revision}&limit=3&fieldSelector=metadata.name=a`,
      'resourceVersion=0&limit=3',
    ]) {
      const newest = (await api.get(`${PATH}?${query}`)).body
      assert.deepEqual(newest.items[0]?.data, {late: 'yes'}, query)
    }
    await storage.compact(await storage.revision())
    const expired = await api.get(`${PATH}?resourceVersion=${revision}&limit=3`)
    assert.deepEqual([expired.status, expired.body.reason], [410, 'Expired'])
  })

  it('waits for a revision that is about to come', async () => {
    const wanted = (await storage.revision()) + 1
    const waiting = api.get(`${PATH}?resourceVersion=${wanted}`)
    await create('f')
    assert.ok(names((await waiting).body).includes('f'))
  })

  it('of one object waits for its revision too, and says when that is none', async () => {
    const wanted = (await storage.revision()) + 1
    const reading = api.get(`${PATH}/a?resourceVersion=${wanted}`)
    await api.patch(`${PATH}/a`, {data: {late: 'yes'}})
    assert.deepEqual((await reading).body.data, {late: 'yes'})
    const {status, body} = await api.get(`${PATH}/a?resourceVersion=abc`)
    assert.deepEqual(
      [status, body.message],
      [
        500,
        'resourceVersion: Invalid value: "abc": strconv.ParseUint: parsing "abc": invalid syntax',
      ],
    )
  })

  it('answers 504 to a revision that does not come', async () => {
    const current = await storage.revision()
    const {status, headers, body} = await api.get(`${PATH}?resourceVersion=${current + 1000}`)
    assert.equal(status, 504)
    assert.equal(headers['Retry-After'], '1')
    assert.equal(body.reason, 'Timeout')
    assert.equal(
      body.message,
      `Timeout: Too large resource version: ${current + 1000}, current: ${current}`,
    )
    assert.equal(body.details.causes[0].reason, 'ResourceVersionTooLarge')
  })

  it('answers 410 once history is forgotten, with a token to go on in the state of now', async () => {
    const {body} = await api.get(`${PATH}?limit=2`)
    const begun = body.metadata.resourceVersion
    await api.delete(`${PATH}/d`)
    await storage.compact(await storage.revision())
    const expired = await api.get(`${PATH}?limit=2&continue=${body.metadata.continue}`)
    assert.deepEqual([expired.status, expired.body.reason], [410, 'Expired'])
    const rest = await api.get(`${PATH}?limit=5&continue=${expired.body.metadata.continue}`)
    assert.deepEqual(names(rest.body), ['c', 'e'])
    assert.equal(rest.body.metadata.resourceVersion, String(await storage.revision()))
    const exact = await api.get(`${PATH}?resourceVersion=${begun}&resourceVersionMatch=Exact`)
    assert.deepEqual([exact.status, exact.body.metadata], [410, {}])
  })

  const token = (content: object) => Buffer.from(JSON.stringify(content)).toString('base64url')
  const refusals: [string, string, number, string][] = [
    ['a continue token of garbage', 'continue=!!', 400, 'invalid continue token: '],
    [
      'a continue token of another version',
      `continue=${token({v: 'v9', rv: 1, start: 'a'})}`,
      400,
      'server does not recognize this encoded version',
    ],
    [
      'a continue token without a key',
      `continue=${token({v: 'meta.k8s.io/v1', rv: 1, start: ''})}`,
      400,
      'encoded start key empty',
    ],
    [
      'continue with a resourceVersion',
      `continue=${token({v: 'meta.k8s.io/v1', rv: 1, start: 'a'})}&resourceVersion=3`,
      400,
      'specifying resource version is not allowed when using continue',
    ],
    ['a resourceVersion that is no number', 'resourceVersion=x', 400, 'invalid resource version'],
    ['a limit that is no number', 'limit=many', 400, 'strconv.ParseInt'],
    [
      'resourceVersionMatch without resourceVersion',
      'resourceVersionMatch=Exact',
      422,
      'resourceVersionMatch is forbidden unless resourceVersion is provided',
    ],
    [
      'an unknown resourceVersionMatch',
      'resourceVersionMatch=Sometimes&resourceVersion=1',
      422,
      'Unsupported value: "Sometimes"',
    ],
    [
      'Exact with resourceVersion 0',
      'resourceVersionMatch=Exact&resourceVersion=0',
      422,
      'is forbidden for resourceVersion "0"',
    ],
    ['sendInitialEvents', 'sendInitialEvents=true', 422, 'sendInitialEvents is forbidden for list'],
    ['a label selector that does not parse', 'labelSelector=a%20b', 400, 'unable to parse'],
    [
      'a field that cannot be selected by',
      'fieldSelector=data.a=b',
      400,
      '"data.a" is not a known field selector',
    ],
    [
      'an unreadable timeout',
      'timeout=soon',
      400,
      'invalid timeout specified in the request URL - time: invalid duration "soon"',
    ],
  ]
  for (const [name, query, status, message] of refusals) {
    it(`refuses ${name}`, async () => {
      const answer = await api.get(`${PATH}?${query}`)
      assert.equal(answer.status, status)
      assert.ok(answer.body.message.includes(message), answer.body.message)
    })
  }

  it('selects by labels and fields together', async () => {
    const query = 'labelSelector=odd=true&fieldSelector=metadata.name!=c'
    assert.deepEqual(names((await api.get(`${PATH}?${query}`)).body), ['a', 'e'])
    const one = await api.get('/api/v1/configmaps?fieldSelector=metadata.name=c')
    assert.deepEqual(names(one.body), ['c'])
  })

  it('answers as a Table, and as bare metadata', async () => {
    const as = (kind: string) => ({accept: `application/json;as=${kind};v=v1;g=meta.k8s.io`})
    const table = (await api.get(`${PATH}?limit=1`, as('Table'))).body
    assert.deepEqual([table.kind, table.rows.length], ['Table', 1])
    assert.deepEqual(
      table.columnDefinitions?.map(({name}) => name),
      ['Name', 'Data', 'Age'],
    )
    assert.ok(table.metadata.continue)
    const partial = (await api.get(PATH, as('PartialObjectMetadataList'))).body
    assert.deepEqual(
      [partial.kind, partial.items[0]?.kind],
      ['PartialObjectMetadataList', 'PartialObjectMetadata'],
    )
    assert.equal((await api.get(PATH, as('Nonsense'))).status, 406)
  })

  it('has bare metadata without kind and apiVersion for clients that prefer protobuf', async () => {
    const as = (type: string, kind: string) => `${type};as=${kind};g=meta.k8s.io;v=v1`
    const accept = (kind: string) => ({
      accept: `${as('application/vnd.kubernetes.protobuf', kind)},${as('application/json', kind)}`,
    })
    const list = (await api.get(PATH, accept('PartialObjectMetadataList'))).body
    assert.equal(list.kind, 'PartialObjectMetadataList')
    for (const item of list.items) assert.deepEqual(Object.keys(item), ['metadata'])
    const one = (await api.get(`${PATH}/a`, accept('PartialObjectMetadata'))).body
    assert.deepEqual([one.kind, one.apiVersion], ['PartialObjectMetadata', 'meta.k8s.io/v1'])
  })
})
