import assert from 'node:assert/strict'

import {versionDocument} from '../../../src/server/discovery/version-document.ts'

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
