import assert from 'node:assert/strict'
import {formatClusterInfo} from '../../src/bootstrap/cluster-info.ts'
import {parseClusterInfo} from '../../src/bootstrap/parse-cluster-info.ts'
import {parseBundle} from '../../src/pki/bundle.ts'
import {isPinned, parsePins, pinOf} from '../../src/pki/pins.ts'
import {testAuthority} from '../pki/support.ts'

describe('the pins of the CAs in cluster-info', () => {
  it('tell the pinned ones from one that is not', async () => {
    const [one, two, other] = [await testAuthority(), await testAuthority(), await testAuthority()]
    const ca = one.pem + two.pem + other.pem
    const info = parseClusterInfo(formatClusterInfo({server: 'https://10.0.0.1:6443', ca}))
    const pins = parsePins([pinOf(one.certificate), pinOf(two.certificate).toUpperCase()])
    assert.deepEqual(
      parseBundle(info.ca ?? '').map((certificate) => isPinned(certificate, pins)),
      [true, true, false],
    )
  })

  for (const text of ['xyz', 'foo', '0011223344', `sha256:${'0a'.repeat(64)}`]) {
    it(`are not of the form "${text.slice(0, 20)}"`, () => {
      assert.throws(() => parsePins([text]), {code: 'USAGE'})
    })
  }
})
