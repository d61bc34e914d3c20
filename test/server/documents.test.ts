import assert from 'node:assert/strict'
import {versionDocument} from '../../src/server/documents.ts'
import {startTestServer} from '../helpers/test-server.ts'
import {get1} from './http/support.ts'

const PATH = '/trustadm/issued-certificates'

describe('a document that a server is given', () => {
  it('is served to administrators, to nobody else, and read each time', async () => {
    let count = 0
    const read = () => Promise.resolve({count: (count += 1)})
    const server = await startTestServer({documents: {[PATH]: read}})
    try {
      const admin = await server.credentialsFor('root', ['system:masters'])
      const ann = await server.credentialsFor('ann', ['people'])
      assert.equal((await get1(server, PATH, {credentials: ann})).status, 403)
      assert.equal(count, 0)
      for (const expected of [1, 2]) {
        const {status, text} = await get1(server, PATH, {credentials: admin})
        assert.deepEqual([status, JSON.parse(text)], [200, {count: expected}])
      }
    } finally {
      await server.stop()
    }
  })
})

describe('the version document', () => {
  it('has the keys of a real server, with digits where clients count', () => {
    const document = versionDocument()
    assert.deepEqual(Object.keys(document).sort(), [
      'buildDate',
      'compiler',
      'emulationMajor',
      'emulationMinor',
      'gitCommit',
      'gitTreeState',
      'gitVersion',
      'goVersion',
      'major',
      'minCompatibilityMajor',
      'minCompatibilityMinor',
      'minor',
      'platform',
    ])
    assert.match(document.major, /^\d+$/)
    assert.match(document.minor, /^\d+$/)
    assert.equal(Number(document.minCompatibilityMinor), Number(document.minor) - 1)
  })

  it('says that it is this program, in a version that semver parsers read', () => {
    assert.match(versionDocument().gitVersion, /^v\d+\.\d+\.\d+\+trustadm\.\d+\.\d+\.\d+$/)
  })
})
