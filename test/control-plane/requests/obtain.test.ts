import assert from 'node:assert/strict'
import {connectTo} from '../../../src/client/connect.ts'
import {pairDestination} from '../../../src/control-plane/requests/destination.ts'
import {obtainCertificate} from '../../../src/control-plane/requests/obtain.ts'
import {wantedCertificate} from '../../../src/control-plane/requests/wanted.ts'
import {systemClock} from '../../../src/runtime.ts'
import {answer, status} from '../../client/support/fake-api.ts'
import {Cleanup} from '../../client/support/servers.ts'
import {startFakeCluster} from '../../discovery/support.ts'
import {useTemporaryFolder} from '../../pki/support.ts'

describe('certificate request', () => {
  const folder = useTemporaryFolder()
  const cleanup = new Cleanup()
  afterEach(() => cleanup.run())

  it('ends at its deadline when a busy server asks to wait longer, and says for what it waits', async () => {
    const {url, ca, ...fake} = cleanup.add(await startFakeCluster())
    fake.answerWith((_request, response) => {
      response.setHeader('retry-after', '30')
      answer(response, 429, status(429, 'TooManyRequests', '500 requests are pending'))
    })
    const client = cleanup.add(connectTo({server: url, ca}, {retry: {attempts: 1}}))
    const wanted = wantedCertificate({user: 'ada'})
    const lines: string[] = []
    const options = {
      timeout: 500,
      server: url,
      force: false,
      wait: true,
      tell: (line: string) => void lines.push(line),
      commandFor: (command: string) => command,
    }
    const destination = pairDestination(folder(), wanted.label)
    await assert.rejects(obtainCertificate(client, wanted, destination, options, systemClock), {
      code: 'TOO_MANY_REQUESTS',
    })
    assert.match(lines.join('\n'), /^waiting for the cluster: .*500 requests are pending/)
  })
})
