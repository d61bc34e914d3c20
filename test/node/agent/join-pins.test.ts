import assert from 'node:assert/strict'
import {readFile, readdir, stat} from 'node:fs/promises'
import {join} from 'node:path'
import {joinPhases, runJoin} from '../../../src/node/join/join.ts'
import {nodeFile} from '../../../src/node/node-files.ts'
import {encodeBundle, parseBundle} from '../../../src/pki/bundle.ts'
import {pinOf} from '../../../src/pki/pins.ts'
import {makeAuthority} from '../../client/support/certificates.ts'
import {joinRequest, TOKEN_TEXT} from '../support.ts'
import {useAgents} from './support.ts'

/** The text of every file in a folder, by its path. */
async function contentsOf(dir: string): Promise<Map<string, string>> {
  const entries = await readdir(dir, {recursive: true, withFileTypes: true})
  const paths = entries.filter((one) => one.isFile()).map((one) => join(one.parentPath, one.name))
  return new Map(
    await Promise.all(
      paths.sort().map(async (path) => [path, await readFile(path, 'utf8')] as const),
    ),
  )
}

describe('the pins of a join, after an agent took a new CA', function () {
  this.timeout(30_000)
  const {cluster, dir, open, attend} = useAgents()
  let both = ''
  let pins: string[] = []
  beforeEach(async () => {
    const agent = await open()
    await attend(agent)
    const next = await makeAuthority('next')
    both = encodeBundle([...parseBundle(cluster().ca), ...parseBundle(next.pem)])
    pins = parseBundle(both).map(pinOf)
    await cluster().publish({server: cluster().url, ca: both})
    agent.lookAgain()
    await attend(agent)
    assert.equal(await readFile(nodeFile(dir(), 'ca'), 'utf8'), both)
  })
  const joining = (folder: string, name: string, caCertHashes: string[]) => {
    const discovery = {endpoints: [cluster().endpoint], token: TOKEN_TEXT, caCertHashes}
    return runJoin(joinRequest(cluster().settings(folder, name, {discovery})), joinPhases())
  }

  it('still decide alone for a join in another folder', async () => {
    const other = `${dir()}-other`
    await assert.rejects(joining(other, 'two', [cluster().pin]), {
      code: 'CA_UNPINNED',
      facts: {pin: pins[1]},
    })
    await assert.rejects(stat(nodeFile(other, 'ca')), {code: 'ENOENT'})
    await joining(other, 'two', pins)
    assert.equal(await readFile(nodeFile(other, 'ca'), 'utf8'), both)
  })

  it("still decide alone for a join in the agent's folder, which changes nothing there", async () => {
    const before = await contentsOf(dir())
    await assert.rejects(joining(dir(), 'one', [cluster().pin]), {code: 'CA_UNPINNED'})
    assert.deepEqual(await contentsOf(dir()), before)
  })

  it('are stored nowhere, so that nothing can change them', async () => {
    const contents = [...(await contentsOf(dir()))]
    assert.ok(contents.length >= 4)
    const named = contents.filter(([, text]) => pins.some((pin) => text.includes(pin.slice(7))))
    assert.deepEqual(
      named.map(([path]) => path),
      [],
    )
  })
})
