import assert from 'node:assert/strict'
import type {ConfigMap} from '../../src/api/core.ts'
import {createApiClient, type ApiClientOptions} from '../../src/client/api-client.ts'
import {FakeTransport} from './support/fake-transport.ts'
import {status} from './support/fake-api.ts'

type Answerer = ConstructorParameters<typeof FakeTransport>[0]

function clientOf(answer: Answerer, options: ApiClientOptions = {}) {
  const transport = new FakeTransport(answer)
  return {transport, client: createApiClient(transport, options)}
}

const echo: Answerer = (request) => ({
  json: request.body ? JSON.parse(Buffer.from(request.body).toString()) : {metadata: {}},
})

const configMap: ConfigMap = {metadata: {name: 'a', namespace: 'ns'}, data: {x: 'y'}}

describe('createApiClient', () => {
  it('asks at the path of each resource', async () => {
    const {client, transport} = clientOf(echo)
    await client.configMaps.get('ns/a')
    await client.configMaps.get({namespace: 'ns', name: 'a'})
    await client.nodes.get('n1')
    await client.csrs.get('csr-1')
    await client
      .resource({group: 'x.io', version: 'v2', plural: 'things', namespaced: false})
      .get('t')
    assert.deepEqual(transport.lines, [
      'GET /api/v1/namespaces/ns/configmaps/a',
      'GET /api/v1/namespaces/ns/configmaps/a',
      'GET /api/v1/nodes/n1',
      'GET /apis/certificates.k8s.io/v1/certificatesigningrequests/csr-1',
      'GET /apis/x.io/v2/things/t',
    ])
  })

  it('uses its own namespace for what does not say one', async () => {
    const {client, transport} = clientOf(echo, {namespace: 'mine'})
    await client.secrets.get('a')
    await client.secrets.create({metadata: {name: 'a'}})
    assert.deepEqual(transport.lines, [
      'GET /api/v1/namespaces/mine/secrets/a',
      'POST /api/v1/namespaces/mine/secrets',
    ])
  })

  for (const name of ['', '.', '..', 'ns/../a', 'a%2fb']) {
    it(`never sends the name "${name}"`, async () => {
      const {client, transport} = clientOf(echo)
      await assert.rejects(client.configMaps.get({namespace: 'ns', name}), {code: 'INVALID'})
      assert.deepEqual(transport.lines, [])
    })
  }

  it('escapes what a name may hold', async () => {
    const {client, transport} = clientOf(echo)
    await client.clusterRoles.get('system:node?a#b')
    assert.deepEqual(transport.lines, [
      'GET /apis/rbac.authorization.k8s.io/v1/clusterroles/system%3Anode%3Fa%23b',
    ])
  })

  it('says the kind of what it creates', async () => {
    const {client, transport} = clientOf(echo)
    await client.configMaps.create(configMap, {fieldManager: 'trustadm', dryRun: true})
    assert.deepEqual(transport.lastBody, {apiVersion: 'v1', kind: 'ConfigMap', ...configMap})
    assert.deepEqual(transport.lines, [
      'POST /api/v1/namespaces/ns/configmaps?fieldManager=trustadm&dryRun=All',
    ])
  })

  it('updates an object, its status and other subresources', async () => {
    const {client, transport} = clientOf(echo)
    await client.configMaps.update(configMap)
    await client.configMaps.updateStatus(configMap)
    await client.configMaps.updateSubresource('approval', configMap)
    await client.configMaps.createSubresource('ns/a', 'token', {metadata: {}})
    assert.deepEqual(transport.lines, [
      'PUT /api/v1/namespaces/ns/configmaps/a',
      'PUT /api/v1/namespaces/ns/configmaps/a/status',
      'PUT /api/v1/namespaces/ns/configmaps/a/approval',
      'POST /api/v1/namespaces/ns/configmaps/a/token',
    ])
  })

  const patches = [
    {type: 'json', contentType: 'application/json-patch+json'},
    {type: 'merge', contentType: 'application/merge-patch+json'},
    {type: 'strategic', contentType: 'application/strategic-merge-patch+json'},
  ] as const
  for (const {type, contentType} of patches) {
    it(`sends a ${type} patch as ${contentType}`, async () => {
      const {client, transport} = clientOf(echo)
      await client.configMaps.patch('ns/a', {data: {}}, {type})
      assert.equal(transport.requests[0]?.headers?.['content-type'], contentType)
    })
  }

  it('applies with a manager and by force', async () => {
    const {client, transport} = clientOf(echo)
    await client.configMaps.apply(configMap, {fieldManager: 'trustadm', force: true})
    assert.equal(transport.requests[0]?.headers?.['content-type'], 'application/apply-patch+yaml')
    assert.deepEqual(transport.lines, [
      'PATCH /api/v1/namespaces/ns/configmaps/a?fieldManager=trustadm&force=true',
    ])
  })

  it('deletes under preconditions', async () => {
    const {client, transport} = clientOf(() => ({json: {kind: 'Status', status: 'Success'}}))
    await client.configMaps.delete('ns/a', {uid: 'u', propagationPolicy: 'Foreground'})
    assert.deepEqual(transport.lastBody, {
      apiVersion: 'v1',
      kind: 'DeleteOptions',
      preconditions: {uid: 'u'},
      propagationPolicy: 'Foreground',
    })
  })

  it('deletes a selection in one namespace, never in all', async () => {
    const {client, transport} = clientOf(() => ({json: {}}))
    await client.configMaps.deleteCollection({namespace: 'ns', labelSelector: 'a=b'})
    await assert.rejects(client.configMaps.deleteCollection({}), {code: 'BAD_REQUEST'})
    assert.deepEqual(transport.lines, [
      'DELETE /api/v1/namespaces/ns/configmaps?labelSelector=a%3Db',
    ])
  })

  it('finds undefined if there is no such object', async () => {
    const missing = status(404, 'NotFound', 'configmaps "a" not found', {name: 'a'})
    const {client} = clientOf(() => ({status: 404, json: missing}))
    assert.equal(await client.configMaps.find('ns/a'), undefined)
    await assert.rejects(client.configMaps.get('ns/a'), {code: 'NOT_FOUND'})
  })

  it('does not take a server without the API for one without the object', async () => {
    const {client} = clientOf(() => ({status: 404, text: '404 page not found'}))
    await assert.rejects(client.configMaps.find('ns/a'), {code: 'NOT_FOUND'})
  })

  for (const text of ['<html>welcome</html>', '', 'null', '"text"']) {
    it(`refuses a success that says ${JSON.stringify(text)}`, async () => {
      const {client} = clientOf(() => ({text}))
      await assert.rejects(client.configMaps.get('ns/a'), {
        code: 'SERVER_ERROR',
        message: /not in the form of a Kubernetes API server/,
      })
    })
  }

  it('impersonates with one header a group', async () => {
    const {client, transport} = clientOf(echo, {
      impersonate: {username: 'bob', groups: ['a', 'b'], extra: {'x.io/scopes': ['s']}},
    })
    await client.nodes.get('n')
    const {headers = {}} = transport.requests[0] ?? {}
    assert.equal(headers['impersonate-user'], 'bob')
    assert.deepEqual(headers['impersonate-group'], ['a', 'b'])
    assert.deepEqual(headers['impersonate-extra-x.io%2Fscopes'], ['s'])
  })

  it('hands over the warnings of the server', async () => {
    const warnings: string[] = []
    const {client} = clientOf(
      () => ({
        headers: {warning: ['299 - "one \\"quoted\\""', '299 - "two", 299 - "three"']},
        json: {},
      }),
      {onWarning: (text) => warnings.push(text)},
    )
    await client.nodes.get('n')
    assert.deepEqual(warnings, ['one "quoted"', 'two', 'three'])
  })

  it('says what is wrong with the credentials when they are refused', async () => {
    const {client} = clientOf(
      () => ({status: 401, json: status(401, 'Unauthorized', 'Unauthorized')}),
      {credentialHints: () => ['the client certificate expired']},
    )
    await assert.rejects(
      client.nodes.get('n'),
      (error: {code: string; suggestions: string[]}) =>
        error.code === 'UNAUTHORIZED' && error.suggestions[0] === 'the client certificate expired',
    )
  })

  it('says how long a busy server asks to wait', async () => {
    const {client} = clientOf(() => ({
      status: 503,
      json: status(503, 'ServiceUnavailable', 'busy'),
      headers: {'retry-after': '90'},
    }))
    await assert.rejects(
      client.nodes.create({metadata: {name: 'n'}}),
      (error: {facts: Record<string, unknown>}) => error.facts.retryAfter === 90_000,
    )
  })

  it('reads raw paths with their query', async () => {
    const {client, transport} = clientOf(() => ({text: 'ok'}))
    assert.equal(await client.raw('/readyz?verbose'), 'ok')
    assert.deepEqual(transport.lines, ['GET /readyz?verbose='])
  })

  it('gives the text of a health check that fails', async () => {
    const {client} = clientOf(() => ({status: 500, text: '[-]store failed'}))
    await assert.rejects(client.raw('/readyz'), {
      code: 'SERVER_ERROR',
      message: '/readyz returned 500: [-]store failed',
    })
  })

  it('reads the version', async () => {
    const {client} = clientOf(() => ({json: {major: '1', minor: '36', gitVersion: 'v1.36.4'}}))
    assert.equal((await client.version()).gitVersion, 'v1.36.4')
  })
})

describe('list', () => {
  const page = (items: string[], metadata = {}) => ({
    json: {
      apiVersion: 'v1',
      kind: 'ConfigMapList',
      metadata: {resourceVersion: '7', ...metadata},
      items: items.map((name) => ({metadata: {name}})),
    },
  })

  it('reads all pages and says what the items are', async () => {
    const {client, transport} = clientOf((_request, attempt) =>
      attempt === 1 ? page(['a'], {continue: 'more', remainingItemCount: 1}) : page(['b']),
    )
    const list = await client.configMaps.list({namespace: 'ns', labelSelector: 'x', pageSize: 1})
    assert.deepEqual(list, {
      apiVersion: 'v1',
      kind: 'ConfigMapList',
      metadata: {resourceVersion: '7'},
      items: ['a', 'b'].map((name) => ({apiVersion: 'v1', kind: 'ConfigMap', metadata: {name}})),
    })
    assert.deepEqual(transport.lines, [
      'GET /api/v1/namespaces/ns/configmaps?labelSelector=x&limit=1',
      'GET /api/v1/namespaces/ns/configmaps?labelSelector=x&limit=1&continue=more',
    ])
  })

  it('starts over, all at once, when the pages have expired', async () => {
    const {client, transport} = clientOf((_request, attempt) => {
      if (attempt === 1) return page(['a'], {continue: 'more'})
      return attempt === 2
        ? {status: 410, json: status(410, 'Expired', 'gone')}
        : page(['a', 'b'], {resourceVersion: '9'})
    })
    const list = await client.configMaps.list({namespace: 'ns'})
    assert.deepEqual([list.items.length, list.metadata.resourceVersion], [2, '9'])
    assert.equal(transport.lines.at(-1), 'GET /api/v1/namespaces/ns/configmaps')
  })

  it('takes null items for none', async () => {
    const {client} = clientOf(() => ({
      json: {kind: 'ConfigMapList', apiVersion: 'v1', items: null},
    }))
    assert.deepEqual((await client.configMaps.list()).items, [])
  })

  it('refuses an answer that is no list', async () => {
    const {client} = clientOf(() => ({json: {kind: 'ConfigMap'}}))
    await assert.rejects(client.configMaps.list(), {code: 'SERVER_ERROR'})
  })
})

describe('watch', () => {
  const line = (type: string, object: unknown) => `${JSON.stringify({type, object})}\n`
  const object = {metadata: {name: 'a', resourceVersion: '5'}}

  async function eventsOf(text: string, httpStatus = 200): Promise<string[]> {
    const {client} = clientOf(() => ({status: httpStatus, text}))
    const types: string[] = []
    for await (const {type} of client.configMaps.watch({namespace: 'ns'})) types.push(type)
    return types
  }

  it('yields changes and bookmarks until the server ends it', async () => {
    const text = ['ADDED', 'MODIFIED', 'BOOKMARK', 'DELETED'].map((type) => line(type, object))
    assert.deepEqual(await eventsOf(text.join('')), ['ADDED', 'MODIFIED', 'BOOKMARK', 'DELETED'])
  })

  it('asks from a resourceVersion, with bookmarks', async () => {
    const {client, transport} = clientOf(() => ({text: ''}))
    const options = {namespace: 'ns', resourceVersion: '5', timeoutSeconds: 300}
    for await (const event of client.configMaps.watch(options)) assert.fail(event.type)
    assert.deepEqual(transport.lines, [
      'GET /api/v1/namespaces/ns/configmaps?watch=true&allowWatchBookmarks=true&resourceVersion=5&timeoutSeconds=300',
    ])
  })

  it('throws EXPIRED for an ERROR event of 410', async () => {
    const gone = line('ERROR', status(410, 'Expired', 'too old resource version'))
    await assert.rejects(eventsOf(line('ADDED', object) + gone), {code: 'EXPIRED'})
  })

  it('throws EXPIRED for an answer of 410', async () => {
    const gone = JSON.stringify(status(410, 'Gone', 'too old'))
    await assert.rejects(eventsOf(gone, 410), {code: 'EXPIRED'})
  })

  for (const text of ['[]\n', '{}\n', 'null\n', line('ADDED', null), line('WHAT', object)]) {
    it(`refuses ${text.trim()} for an event`, async () => {
      await assert.rejects(eventsOf(text), {code: 'SERVER_ERROR'})
    })
  }

  it('lets go of the stream when left early', async () => {
    const {client, transport} = clientOf(() => ({text: line('ADDED', object).repeat(3)}))
    for await (const _event of client.configMaps.watch()) break
    assert.equal(transport.closedStreams, 1)
  })
})
