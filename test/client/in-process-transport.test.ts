import assert from 'node:assert/strict'
import {createApiClient} from '../../src/client/api-client.ts'
import {InProcessTransport} from '../../src/client/in-process-transport.ts'
import type {InProcessHandler, InProcessRequest} from '../../src/client/transport.ts'
import type {Handler} from '../../src/server/kernel/api-request.ts'
import {status} from './support/fake-api.ts'

const CALLER = {
  username: 'system:serviceaccount:kube-system:signer',
  groups: ['system:serviceaccounts'],
}

describe('InProcessTransport', () => {
  it('takes the handler of the server as it is', () => {
    const handler: Handler = () => Promise.resolve({status: 200, headers: {}, body: ''})
    const accepted: InProcessHandler = handler
    assert.ok(new InProcessTransport(accepted, CALLER))
  })

  it('hands over the request and its caller', async () => {
    let seen: InProcessRequest | undefined
    const transport = new InProcessTransport((request) => {
      seen = request
      return Promise.resolve({status: 201, headers: {'X-One': '1'}, body: 'grüß'})
    }, CALLER)
    const answer = await transport.request({
      method: 'POST',
      path: '/api/v1/namespaces',
      query: new URLSearchParams({dryRun: 'All'}),
      headers: {'Content-Type': 'application/json', 'impersonate-group': ['a', 'b']},
      body: Buffer.from('{}'),
    })
    assert.equal(seen?.caller, CALLER)
    assert.equal(seen.query.get('dryRun'), 'All')
    assert.deepEqual(seen.headers, {
      'content-type': 'application/json',
      'impersonate-group': 'a, b',
    })
    assert.deepEqual(seen.rawHeaders, [
      'content-type',
      'application/json',
      'impersonate-group',
      'a',
      'impersonate-group',
      'b',
    ])
    assert.deepEqual([answer.status, answer.headers['x-one']], [201, '1'])
    assert.equal(Buffer.from(answer.body).toString(), 'grüß')
  })

  it('carries many requests at once without a warning of a leak', async () => {
    const warnings: string[] = []
    const note = (warning: Error) => warnings.push(warning.name)
    process.on('warning', note)
    const handler = () => Promise.resolve({status: 200, headers: {}, body: '{}'})
    const transport = new InProcessTransport(handler, CALLER)
    const request = {method: 'GET', path: '/version', query: new URLSearchParams(), headers: {}}
    await Promise.all(Array.from({length: 30}, () => transport.request(request)))
    await new Promise((resolve) => setImmediate(resolve))
    process.off('warning', note)
    assert.deepEqual(warnings, [])
  })

  it('serves a client like any other transport', async () => {
    const missing = status(404, 'NotFound', 'nodes "x" not found', {name: 'x'})
    const client = createApiClient(
      new InProcessTransport(
        () => Promise.resolve({status: 404, headers: {}, body: JSON.stringify(missing)}),
        CALLER,
      ),
    )
    assert.equal(await client.nodes.find('x'), undefined)
  })

  /** A watch that sends one event and then waits until it is told to stop. */
  function endlessWatch(onStop: () => void): InProcessHandler {
    return ({signal}) => {
      signal.addEventListener('abort', onStop)
      const event = {type: 'ADDED', object: {metadata: {name: 'a', resourceVersion: '1'}}}
      async function* body() {
        yield `${JSON.stringify(event)}\n`
        await new Promise(() => undefined)
      }
      return Promise.resolve({status: 200, headers: {}, body: body()})
    }
  }

  it('tells the server when a watcher has left', async () => {
    let stopped = false
    const transport = new InProcessTransport(
      endlessWatch(() => (stopped = true)),
      CALLER,
    )
    for await (const {type} of createApiClient(transport).nodes.watch()) {
      assert.equal(type, 'ADDED')
      break
    }
    assert.equal(stopped, true)
  })

  it('ends a watch with the reason of its signal, even if the server does not', async () => {
    const stop = new AbortController()
    const reason = new Error('stop')
    const transport = new InProcessTransport(
      endlessWatch(() => undefined),
      CALLER,
    )
    await assert.rejects(async () => {
      for await (const _event of createApiClient(transport).nodes.watch({signal: stop.signal})) {
        stop.abort(reason)
      }
    }, reason)
  })

  it('ends a request with the reason of its signal while the server still works', async () => {
    const reason = new Error('stop')
    const stop = new AbortController()
    const working = () => {
      setImmediate(() => stop.abort(reason))
      return new Promise<never>(() => undefined)
    }
    const transport = new InProcessTransport(working, CALLER)
    await assert.rejects(transport.request({method: 'GET', path: '/', signal: stop.signal}), reason)
  })

  it('ends open watches when it is closed, and takes no more requests', async () => {
    let stopped = false
    const transport = new InProcessTransport(
      endlessWatch(() => (stopped = true)),
      CALLER,
    )
    await transport.stream({method: 'GET', path: '/'})
    await transport.close()
    assert.equal(stopped, true)
    await assert.rejects(transport.request({method: 'GET', path: '/'}))
  })

  it('leaves no listener on the signal of its caller', async () => {
    const {signal} = new AbortController()
    let listeners = 0
    const add = signal.addEventListener.bind(signal)
    const remove = signal.removeEventListener.bind(signal)
    signal.addEventListener = (...all: Parameters<typeof add>) => (listeners++, add(...all))
    signal.removeEventListener = (...all: Parameters<typeof remove>) => (
      listeners--,
      remove(...all)
    )
    const transport = new InProcessTransport(
      () => Promise.resolve({status: 200, headers: {}, body: '{}'}),
      CALLER,
    )
    for (let count = 0; count < 10; count += 1) {
      await transport.request({method: 'GET', path: '/', signal})
    }
    assert.ok(listeners <= 0, `${listeners} listeners are left`)
  })
})
