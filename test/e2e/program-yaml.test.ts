import assert from 'node:assert/strict'
import {once} from 'node:events'
import {readFile} from 'node:fs/promises'
import {request} from 'node:https'
import type {IncomingMessage} from 'node:http'
import {join} from 'node:path'
import {programFixture, trustadm, type ProgramFixture} from '../helpers/program.ts'

/** The bundle loads the library for YAML in another way than the source does. */
describe('the built program and YAML', function () {
  this.timeout(60_000)
  let fixture: ProgramFixture
  beforeEach(async () => {
    fixture = await programFixture()
  })
  afterEach(() => fixture.remove())

  it('prints its results', async () => {
    const {code, stdout, stderr} = await trustadm('version', '--output', 'yaml')
    assert.equal(code, 0, stderr)
    assert.match(stdout, /^version: v\d/m)
  })

  it('reads it in requests', async () => {
    const {stdout} = await fixture.init('--output', 'json')
    const {endpoint} = JSON.parse(stdout) as {endpoint: string}
    const pki = (name: string) => readFile(join(fixture.dir, 'pki', name))
    const call = request(`${endpoint}/api/v1/namespaces`, {
      method: 'POST',
      headers: {'content-type': 'application/yaml'},
      ca: await pki('ca.crt'),
      cert: await pki('apiserver-kubelet-client.crt'),
      key: await pki('apiserver-kubelet-client.key'),
    })
    call.end('metadata:\n  name: in-yaml\n')
    const [answer] = (await once(call, 'response')) as [IncomingMessage]
    answer.resume()
    assert.equal(answer.statusCode, 201)
  })
})
