import assert from 'node:assert/strict'
import {readdir} from 'node:fs/promises'
import {join} from 'node:path'
import {joinPhases, runJoin} from '../../../src/node/join/join.ts'
import {issueFromRequest} from '../../../src/pki/issuer.ts'
import {parseRequest} from '../../../src/pki/request.ts'
import {around, makeAuthority, type TestAuthority} from '../../client/support/certificates.ts'
import {bundleOf} from '../../helpers/test-trust.ts'
import {joinRequest, startJoinableCluster, useFolder} from '../support.ts'
import type {JoinableCluster} from '../support.ts'

describe('a cluster whose nodes are signed by a CA of its own', function () {
  this.timeout(30_000)
  const folder = useFolder()
  const dir = () => join(folder(), 'node')
  let cluster: JoinableCluster
  let other: TestAuthority
  beforeEach(async () => {
    cluster = await startJoinableCluster()
    other = await makeAuthority('clients')
  })
  afterEach(() => cluster.stop())

  const joinSignedByOther = async () => {
    const done = runJoin(joinRequest(cluster.settings(dir(), 'one')), joinPhases())
    done.catch(() => undefined)
    const name = await cluster.firstRequest()
    const {spec} = await cluster.admin.csrs.get(name)
    const request = parseRequest(Buffer.from(spec.request, 'base64').toString())
    const usages = spec.usages ?? []
    const validity = around(3_600_000)
    await cluster.issue(name, await issueFromRequest(other.issuer, request, {usages, validity}))
    await done
  }

  it('is joined where its server knows that CA', async () => {
    await cluster.setTrust({bundles: {client: bundleOf(`${cluster.ca}${other.pem}`)}})
    await joinSignedByOther()
    assert.equal((await cluster.admin.nodes.get('one')).metadata.name, 'one')
  })

  it('is not joined where its server does not, and nothing of the certificate is kept', async () => {
    await assert.rejects(joinSignedByOther(), {code: 'CERTIFICATE_INVALID'})
    assert.deepEqual(await readdir(join(dir(), 'pki')), ['ca.crt'])
  })
})
