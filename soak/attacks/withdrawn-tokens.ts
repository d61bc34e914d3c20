import {once} from 'node:events'
import {sleep} from '../../src/runtime.ts'
import type {Attack, Field, Identity} from '../attack.ts'
import {APPLY, freshName} from './bodies.ts'
import {openSocket, statusOf} from './sockets.ts'

/** Until the server has surely let the head in. */
const HEAD_START = 100

/** Bodies that arrive when the token of their head is deleted. Attackers keep slow requests in store for that moment. */
export const withdrawnTokens: Attack = {
  name: 'withdrawn-tokens',
  aim: 'writes by bodies that arrive after their token was deleted',
  run: (field) =>
    field.flood({perSecond: 4, atOnce: 8}, async () => {
      const {holdings, shoot, count, breach, signal} = field
      const {tenant, namespace} = holdings
      const home = `/api/v1/namespaces/${namespace}`
      const name = freshName('robot')
      const token = await accountToken(field, home, name)
      if (token === undefined) return
      const metadata = {name, namespace}
      const map = JSON.stringify({apiVersion: 'v1', kind: 'ConfigMap', metadata, data: {}})
      const late = await Promise.all([
        begin(field, token, `POST ${home}/configmaps`, map),
        begin(field, token, `PATCH ${home}/configmaps/${name}?fieldManager=soak`, map, APPLY),
        begin(field, token, `POST ${home}/serviceaccounts/tenant/token`, '{"spec":{}}'),
      ])
      await sleep(HEAD_START, signal)
      const {status} = await shoot(tenant, {method: 'DELETE', path: accountPath(home, name)})
      for (const finish of late) {
        const answer = await finish()
        count(`late ${answer}`)
        if (status === 200 && answer.startsWith('2')) breach('a deleted token has done something')
      }
      const found = await shoot(tenant, {path: `${home}/configmaps/${name}`})
      if (status === 200 && found.status === 200) breach('a deleted token has written something')
    }),
}

const accountPath = (home: string, name: string) => `${home}/serviceaccounts/${name}`

/** The token of a new account in the tenant's namespace. */
async function accountToken(
  {holdings: {tenant}, shoot}: Field,
  home: string,
  name: string,
): Promise<string | undefined> {
  const create = (path: string, object: object) =>
    shoot(tenant, {method: 'POST', path, body: JSON.stringify(object)})
  await create(`${home}/serviceaccounts`, {metadata: {name}})
  const {status, text} = await create(`${accountPath(home, name)}/token`, {spec: {}})
  if (status !== 201) return undefined
  return (JSON.parse(text) as {status: {token: string}}).status.token
}

/** Sends all of a request but its last byte. Returns what sends that, and waits for the status. */
async function begin(
  {holdings, signal}: Field,
  token: string,
  target: string,
  body: string,
  type = 'application/json',
): Promise<() => Promise<string>> {
  const nobody: Identity = {name: 'robot'}
  const socket = await openSocket(holdings, nobody)
  const answered = once(socket, 'data', {signal}).then(statusOf, () => 'closed')
  socket.once('close', () => socket.emit('error', new Error('closed')))
  const head = [
    `${target} HTTP/1.1`,
    'Host: soak',
    `Authorization: Bearer ${token}`,
    `Content-Type: ${type}`,
    `Content-Length: ${Buffer.byteLength(body)}`,
  ]
  socket.write(`${head.join('\r\n')}\r\n\r\n${body.slice(0, -1)}`)
  return async () => {
    socket.write(body.slice(-1))
    try {
      return await answered
    } finally {
      socket.destroy()
    }
  }
}
