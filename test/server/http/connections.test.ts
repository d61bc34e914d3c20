import assert from 'node:assert/strict'
import {generateKeyPairSync} from 'node:crypto'
import {once} from 'node:events'
import {connect} from 'node:net'
import type {TLSSocket} from 'node:tls'
import {encodePem} from '../../../src/pki/pem.ts'
import {ByAddress, HandshakeBudget} from '../../../src/server/http/connections.ts'
import type {Handler} from '../../../src/server/kernel/api-request.ts'
import {make, makeAuthority} from '../../pki/certificate-builder.ts'
import {modulusWith, rsaKeyInfo, withKeyInfo} from '../../pki/hostile-certificates.ts'
import {until} from '../support.ts'
import {json, listen, rawConnection, untilClosed} from './support.ts'

const KIB = 1024
const handler: Handler = () => Promise.resolve(json({}))
const ASK = 'GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n'

/** A leaf with a key of its own below CAs of 16384 bits, which OpenSSL looks through before the server can. */
function hostileChain() {
  const {publicKey, privateKey} = generateKeyPairSync('ec', {namedCurve: 'P-256'})
  const leaf = withKeyInfo(publicKey.export({type: 'spki', format: 'der'}), {
    subject: 'leaf',
    issuer: 's0',
    signatureBytes: 2048,
  })
  const above = Array.from({length: 20}, (_, index) =>
    withKeyInfo(rsaKeyInfo(modulusWith(16_384)), {
      subject: `s${index}`,
      issuer: `s${index + 1}`,
      signatureBytes: 2048,
    }),
  )
  return {
    cert: [leaf, ...above].map((der) => encodePem('CERTIFICATE', der)).join(''),
    key: privateKey.export({type: 'pkcs8', format: 'pem'}),
  }
}

describe('handshakes made to keep the server busy', () => {
  it('cost their address the next ones, and nobody else', async () => {
    const server = await listen(handler)
    try {
      const hostile = hostileChain()
      const attack = async () => {
        const socket = await rawConnection(server, hostile).catch(() => undefined)
        if (socket === undefined) return false
        socket.write(ASK)
        return (await untilClosed(socket)).startsWith('HTTP/1.1 200 ')
      }
      let answered = 0
      await until(async () => {
        if (!(await attack())) return true
        answered++
        return false
      })
      // 256 KiB of such chains, each of 90.
      assert.ok(answered >= 1 && answered <= 4, String(answered))
      const from = {host: '127.0.0.1', port: server.port, localAddress: '127.0.0.2'}
      const other = await rawConnection(server, {socket: connect(from)})
      other.write(ASK)
      assert.match(await untilClosed(other), /^HTTP\/1.1 200 /)
    } finally {
      await server.listener.close(0)
    }
  })

  it('are told from usual ones', async () => {
    const budget = new HandshakeBudget()
    const middle = await makeAuthority('middle', {by: await makeAuthority('root')})
    const leaf = await make({by: middle})
    for (let count = 0; count < 1000; count++) {
      budget.done('192.0.2.1', 100 * KIB, [])
      budget.done('192.0.2.1', 100 * KIB, [leaf.der, middle.der])
      // Somebody who does not trust the server, and tries again.
      budget.failed('192.0.2.1', 600)
    }
    assert.equal(budget.allows('192.0.2.1'), true)
  })

  it('count if they fail, and if they are many certificates with usual keys', async () => {
    const budget = new HandshakeBudget()
    for (let count = 0; count < 3; count++) budget.failed('192.0.2.1', 90 * KIB)
    assert.equal(budget.allows('192.0.2.1'), false)
    const {der} = await makeAuthority('root')
    const many = Array.from({length: 9}, () => der)
    for (let count = 0; count < 6; count++) budget.done('192.0.2.2', 50 * KIB, many)
    assert.equal(budget.allows('192.0.2.2'), false)
    assert.equal(budget.allows('192.0.2.3'), true)
  })

  it('count for a whole IPv6 network, of which one machine has every address', () => {
    const budget = new HandshakeBudget()
    for (let count = 0; count < 3; count++) budget.failed(`2001:db8::${count}`, 90 * KIB)
    assert.equal(budget.allows('2001:db8::ff'), false)
    assert.equal(budget.allows('2001:db8:0:1::1'), true)
  })
})

describe('connections beyond the limit', () => {
  const quietly = async function* (signal: AbortSignal) {
    yield 'begun\n'
    if (!signal.aborted) await once(signal, 'abort')
  }
  /** `/alice` is asked for by a caller, the others by strangers; whatever ends with `watch` stays open. */
  const mixed: Handler = ({path, held, signal}) => {
    if (path.startsWith('/alice')) held?.belongsTo({username: 'alice', groups: []})
    const body = path.endsWith('watch') ? quietly(signal) : 'done\n'
    return Promise.resolve({status: 200, headers: {}, body})
  }

  it('are those of strangers first, though all come from one address', async () => {
    const server = await listen(mixed, {connections: 8})
    const sockets: TLSSocket[] = []
    const ask = async (path: string) => {
      const socket = await rawConnection(server)
      sockets.push(socket)
      socket.write(`GET ${path} HTTP/1.1\r\nHost: x\r\n\r\n`)
      await once(socket, 'data')
      return socket.resume()
    }
    try {
      const callers = [await ask('/alice'), await ask('/alice/watch')]
      for (let count = 0; count < 20; count++) await ask(count % 2 === 0 ? '/' : '/watch')
      assert.deepEqual(
        callers.map(({destroyed}) => destroyed),
        [false, false],
      )
      assert.ok(server.listener.openConnections <= 8)
    } finally {
      for (const socket of sockets) socket.destroy()
      await server.listener.close(0)
    }
  })
})

const item = (address: string) => ({address})

describe('connections by address', () => {
  it('give up the oldest of the address that has most', () => {
    const all = new ByAddress<{address: string}>()
    const [honest, first, second] = [item('10.0.0.1'), item('10.0.0.2'), item('10.0.0.2')]
    for (const one of [honest, first, second]) all.add(one)
    assert.equal(all.oldestOfMost(), first)
    assert.ok(all.delete(first))
    assert.equal(all.oldestOfMost(), honest)
  })

  it('count each once, and forget addresses that have none', () => {
    const all = new ByAddress<{address: string}>()
    const one = item('10.0.0.1')
    all.add(one)
    all.add(one)
    assert.deepEqual([all.size, ...all], [1, one])
    assert.ok(all.delete(one))
    assert.equal(all.delete(one), false)
    assert.deepEqual([all.size, all.oldestOfMost()], [0, undefined])
  })
})
