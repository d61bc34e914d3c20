import {programFixture} from '../helpers/program.ts'
import {completesAfterKills} from './killed-init.ts'

describe('init that is killed', function () {
  this.timeout(60_000)

  it('completes in the next run, wherever it was', async () => {
    const fixture = await programFixture()
    try {
      // Some of the certificates, some of the kubeconfigs, the server.
      await completesAfterKills(fixture, [1, 2, 6, 10, 13, 14, 17])
    } finally {
      await fixture.remove()
    }
  })
})
