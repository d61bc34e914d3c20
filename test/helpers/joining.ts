import {createServer} from 'node:https'
import {mkdtemp, readFile, rm, writeFile} from 'node:fs/promises'
import type {AddressInfo} from 'node:net'
import {tmpdir} from 'node:os'
import {join} from 'node:path'
import assert from 'node:assert/strict'
import {formatClusterInfo} from '../../src/bootstrap/cluster-info.ts'
import type {JoinResult} from '../../src/node/describe-node.ts'
import {issue, makeAuthority} from '../client/support/certificates.ts'
import {programFixture, trustadmWith, type Ended, type ProgramFixture} from './program.ts'

interface InitResult {
  endpoint: string
  token: string
  caCertHashes: string[]
  kubeconfig: string
  joinCommand: string
}

/** A control plane, and all that machines need to join it by each of the three methods. */
export interface JoinFixture extends ProgramFixture {
  made: InitResult
  ca: string
  /** A kubeconfig without credentials, for `--discovery-file`. */
  document: string
  documentFile: string
  /** Where a local web server has it, and the CA of that server. */
  url: string
  urlCaFile: string
  tokenFile: string
  /** The words of the join line that `init` printed, after the program's name and "join". */
  line: string[]
  /** Folders of nodes. */
  nodeDir: (name: string) => string
}

export type DiscoveryMethod = 'token' | 'file' | 'stdin' | 'https' | 'https-extra-ca'

export const DISCOVERY_METHODS: readonly DiscoveryMethod[] = [
  'token',
  'file',
  'stdin',
  'https',
  'https-extra-ca',
]

export async function joinFixture(): Promise<JoinFixture> {
  const fixture = await programFixture()
  const made = parseResult(await fixture.init('--output', 'json')) as InitResult
  const ca = await readFile(join(fixture.dir, 'pki', 'ca.crt'), 'utf8')
  const document = formatClusterInfo({server: made.endpoint, ca})
  const place = await mkdtemp(join(tmpdir(), 'trustadm-join-'))
  const put = async (name: string, content: string) => {
    await writeFile(join(place, name), content, {mode: 0o600})
    return join(place, name)
  }
  const authority = await makeAuthority('web')
  const {certificate, key} = await issue(authority)
  const web = createServer({cert: certificate, key}, (_request, response) => {
    response.end(document)
  })
  await new Promise<void>((resolve) => web.listen(0, '127.0.0.1', resolve))
  const {port} = web.address() as AddressInfo
  return {
    ...fixture,
    made,
    ca,
    document,
    documentFile: await put('cluster.yaml', document),
    url: `https://127.0.0.1:${port}/cluster.yaml`,
    urlCaFile: await put('web-ca.crt', authority.pem),
    tokenFile: await put('token', made.token),
    line: made.joinCommand.split(' ').slice(2),
    nodeDir: (name) => join(place, name),
    remove: async () => {
      await new Promise((resolve) => {
        web.close(resolve)
        web.closeAllConnections()
      })
      await fixture.remove()
      await rm(place, {recursive: true, force: true})
    },
  }
}

/** Joins a machine of that name into a folder of its own. */
export function joinBy(
  fixture: JoinFixture,
  method: DiscoveryMethod,
  name: string,
  ...more: string[]
): Promise<Ended> {
  const {line, documentFile, document, url, urlCaFile, tokenFile} = fixture
  const quiet = ['--token-file', tokenFile]
  const words: Record<DiscoveryMethod, string[]> = {
    token: line,
    file: ['--discovery-file', documentFile, ...quiet],
    stdin: ['--discovery-file', '-', ...quiet],
    https: ['--discovery-file', url, '--discovery-file-ca', urlCaFile, ...quiet],
    'https-extra-ca': ['--discovery-file', url, ...quiet],
  }
  const place = ['--dir', fixture.nodeDir(name), '--node-name', name]
  return trustadmWith(
    {
      ...(method === 'stdin' && {input: document}),
      ...(method === 'https-extra-ca' && {env: {NODE_EXTRA_CA_CERTS: urlCaFile}}),
    },
    'join',
    ...words[method],
    ...place,
    ...more,
  )
}

export const joinedBy = async (...args: Parameters<typeof joinBy>): Promise<JoinResult> => {
  const [fixture, method, name, ...more] = args
  return parseResult(await joinBy(fixture, method, name, ...more, '--output', 'json')) as JoinResult
}

/** What it printed, where it has to succeed. */
export function parseResult({stdout, stderr, code}: Ended): unknown {
  assert.equal(code, 0, stderr)
  return JSON.parse(stdout)
}
