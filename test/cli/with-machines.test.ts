import assert from 'node:assert/strict'
import {join} from 'node:path'
import {withdrawAll} from '../../src/cli/with-machines.ts'
import type {Cluster} from '../../src/cli/with-cluster.ts'
import {systemClock} from '../../src/runtime.ts'
import {ADMIN, startTestServer, type TestServer} from '../helpers/test-server.ts'
import {useTemporaryFolder} from '../pki/support.ts'

describe('withdrawing a credential with its machines', () => {
  const folder = useTemporaryFolder()
  const {CI} = process.env
  let server: TestServer
  let withdrawn: number
  before(async () => {
    server = await startTestServer({controllers: false})
    // No questions, even if the tests run on a terminal.
    process.env.CI = 'true'
  })
  after(async () => {
    if (CI === undefined) delete process.env.CI
    else process.env.CI = CI
    await server.stop()
  })
  beforeEach(() => {
    withdrawn = 0
  })

  const withdraw = (more = {}) =>
    withdrawAll(
      {client: server.clientAs(ADMIN)} as unknown as Cluster,
      [{credential: {tokenId: 'abcdef'}, reason: 'leaked'}],
      {
        kubeconfig: join(folder(), 'elsewhere.conf'),
        yes: false,
        'dry-run': false,
        quiet: true,
        verbose: false,
        ...more,
      },
      {withdraw: () => Promise.resolve((withdrawn += 1)), clock: systemClock},
    )

  it('changes nothing without --yes where nobody can be asked', async () => {
    await assert.rejects(withdraw(), {code: 'USAGE', message: /no terminal to ask on/})
    assert.equal(withdrawn, 0)
  })

  it('goes ahead with --yes, and needs none for a dry run', async () => {
    await withdraw({'dry-run': true})
    assert.equal(withdrawn, 0)
    assert.deepEqual(await withdraw({yes: true}), {certificates: [], nodes: []})
    assert.equal(withdrawn, 1)
  })
})
