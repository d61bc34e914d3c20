import assert from 'node:assert/strict'
import {once} from 'node:events'
import type {TLSSocket} from 'node:tls'
import {Descriptors} from '../../../src/server/http/descriptors.ts'
import {Listener} from '../../../src/server/http/listener.ts'
import type {Handler} from '../../../src/server/kernel/api-request.ts'
import {until} from '../support.ts'
import {get1, json, rawConnection, servingMaterial} from './support.ts'

const noneLeft = () => Object.assign(new Error('too many open files'), {code: 'EMFILE'})

describe('descriptors', () => {
  it('are left to files, commands and the store, also where there are few', () => {
    const spare = (limit: number, used: number) => new Descriptors(() => ({limit, used})).spare
    assert.deepEqual(
      [spare(1024, 100), spare(1024, 960), spare(1024, 1000), spare(100, 60)],
      [860, 0, -40, 15],
    )
  })

  it('are counted as used up if none is left to look, and in readiness', () => {
    let use: () => {limit: number; used: number} = () => ({limit: 100, used: 20})
    const descriptors = new Descriptors(() => use())
    descriptors.check()
    use = () => {
      throw noneLeft()
    }
    descriptors.look()
    assert.throws(() => descriptors.check(), /100 of 100 descriptors are open.*LimitNOFILE/)
    assert.equal(descriptors.spare, -25)
    use = () => ({limit: 100, used: 20})
    descriptors.look()
    descriptors.check()
  })

  it('are unlimited where the system does not tell', () => {
    const descriptors = new Descriptors(() => undefined)
    descriptors.check()
    assert.equal(descriptors.spare, Infinity)
  })

  it('are those of this process, on Linux', function () {
    if (process.platform !== 'linux') this.skip()
    const {spare} = new Descriptors()
    assert.ok(spare > 0 && spare < Infinity)
  })
})

describe('a listener with few descriptors', () => {
  it('closes connections that nobody uses, takes few new ones, and more once there are more', async () => {
    const answering: Handler = ({signal, path}) =>
      Promise.resolve(
        path === '/watch' ? {status: 200, headers: {}, body: quietly(signal)} : json({path}),
      )
    const descriptors = {spare: 1000, look: () => undefined}
    const tls = await servingMaterial()
    const options = {handler: answering, host: '127.0.0.1', port: 0, tls, descriptors}
    const listener = await Listener.start(options)
    const place = {port: listener.port, ca: tls.clientAuthorities}
    const sockets: TLSSocket[] = []
    try {
      const watching = await rawConnection(place)
      sockets.push(watching)
      watching.write('GET /watch HTTP/1.1\r\nHost: x\r\n\r\n')
      await once(watching, 'data')
      for (let count = 0; count < 20; count++) sockets.push(await rawConnection(place))
      await until(() => listener.openConnections === 21)
      descriptors.spare = -1000
      await until(() => listener.openConnections === 8)
      for (let count = 0; count < 10; count++) sockets.push(await rawConnection(place))
      assert.ok(listener.openConnections <= 8)
      assert.equal(watching.destroyed, false)
      assert.equal((await get1(place, '/')).status, 200)
      descriptors.spare = 1000
      for (let count = 0; count < 10; count++) sockets.push(await rawConnection(place))
      await until(async () => {
        sockets.push(await rawConnection(place))
        return listener.openConnections > 8
      })
    } finally {
      for (const socket of sockets) socket.destroy()
      await listener.close(0)
    }
  })
})

async function* quietly(signal: AbortSignal) {
  yield 'begun\n'
  if (!signal.aborted) await once(signal, 'abort')
}
