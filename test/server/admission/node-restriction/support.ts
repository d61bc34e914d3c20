import assert from 'node:assert/strict'
import {startTestServer, type TestServer} from '../../../helpers/test-server.ts'
import {Api, type Answer, type AnyBody} from '../../support.ts'

export const APP = '/api/v1/namespaces/app'

/** A server with two nodes and a namespace; `mynode` is who writes. */
export interface Stage {
  server: TestServer
  admin: Api
  node: Api
  stop(): Promise<void>
}

export async function setStage(): Promise<Stage> {
  const server = await startTestServer({controllers: false})
  const admin = new Api(server.handler)
  const stage = {
    server,
    admin,
    node: admin.as('system:node:mynode', 'system:nodes'),
    stop: () => server.stop(),
  }
  await make(admin, '/api/v1/namespaces', {metadata: {name: 'app'}})
  for (const name of ['default', 'runner'])
    await make(admin, `${APP}/serviceaccounts`, {metadata: {name}})
  await make(admin, '/api/v1/nodes', {metadata: {name: 'mynode'}})
  await make(admin, '/api/v1/nodes', {metadata: {name: 'othernode'}})
  return stage
}

export async function make(api: Api, path: string, body: object): Promise<AnyBody> {
  const answer = await api.post(path, body)
  assert.equal(answer.status, 201, answer.text)
  return answer.body
}

export function assertRefused({status, body}: Answer, why: string): void {
  assert.equal(status, 403, JSON.stringify(body))
  const [, said] = body.message.split(' is forbidden: ')
  assert.equal(said, why)
}
