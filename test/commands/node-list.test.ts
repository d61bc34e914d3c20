import assert from 'node:assert/strict'
import {mkdtemp, rm, writeFile} from 'node:fs/promises'
import {tmpdir} from 'node:os'
import {join} from 'node:path'
import {parse} from 'yaml'
import type {NodeList} from '../../src/control-plane/nodes/list.ts'
import {TRUST_REPORT, formatTrustReport} from '../../src/node/trust-report.ts'
import {parseCertificate} from '../../src/pki/certificate.ts'
import {pinOf} from '../../src/pki/pins.ts'
import {run} from '../cli/program.ts'
import {ADMIN, startTestServer, type TestServer} from '../helpers/test-server.ts'

const DAY = 86_400_000

describe('node list', () => {
  let server: TestServer
  let folder = ''
  let kubeconfig = ''
  before(async () => {
    server = await startTestServer({controllers: false})
    folder = await mkdtemp(join(tmpdir(), 'trustadm-node-list-'))
    kubeconfig = join(folder, 'admin.conf')
    const content = await server.kubeconfigFor('admin', ['system:masters'])
    await writeFile(kubeconfig, content, {mode: 0o600})
    const trusts = [pinOf(parseCertificate(server.ca))]
    const reporting = (name: string, serial: string, end: number) => {
      const notBefore = new Date(Date.now() - 2 * DAY).toISOString()
      const notAfter = new Date(Date.now() + end).toISOString()
      const client = {serial, issuer: 'CN=kubernetes', notBefore, notAfter}
      const annotations = {[TRUST_REPORT]: formatTrustReport({trusts, client})}
      return server.clientAs(ADMIN).nodes.create({metadata: {name, annotations}})
    }
    // A serial that YAML would read as a number if it were not quoted.
    await reporting('good', '1234', 300 * DAY)
    await reporting('late', '1e3', -DAY)
  })
  after(async () => {
    await server.stop()
    await rm(folder, {recursive: true, force: true})
  })

  const list = async (output: string) => {
    const {stdout, stderr, exit} = await run(
      'node',
      'list',
      '--kubeconfig',
      kubeconfig,
      '-o',
      output,
    )
    assert.deepEqual({stderr, exit}, {stderr: '', exit: 0})
    return stdout
  }

  it('prints with -o name the names alone, the worst first', async () => {
    assert.equal(await list('name'), 'late\ngood\n')
  })

  it('prints with -o yaml what it prints with -o json', async () => {
    const nodes = (parse(await list('yaml')) as NodeList).nodes
    assert.deepEqual(
      nodes.map(({name, certificate}) => [name, certificate?.serial]),
      [
        ['late', '1e3'],
        ['good', '1234'],
      ],
    )
    assert.deepEqual([nodes[0]?.problems[0]?.code, nodes[1]?.problems], ['expired', []])
    assert.deepEqual(nodes, (JSON.parse(await list('json')) as NodeList).nodes)
  })
})
