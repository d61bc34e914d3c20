import assert from 'node:assert/strict'
import {once} from 'node:events'
import {createServer, type AddressInfo} from 'node:net'
import {serve} from '../../src/control-plane/serve.ts'
import {systemClock} from '../../src/runtime.ts'
import {serveFixture, silent} from './ca-rotation/support.ts'
import {planeFixture} from './plane-fixture.ts'

const options = {clock: systemClock, log: silent}

describe('a server of a control plane that cannot start', function () {
  this.timeout(30_000)

  it('names the one that runs already, and the command that stops it', async () => {
    const fixture = await planeFixture()
    await fixture.provide('certs', 'kubeconfig')
    const stop = await serveFixture(fixture)
    try {
      await assert.rejects(serve(fixture.context.plane, options), {
        code: 'STORE_LOCKED',
        message: `the server is running already, as process ${process.pid}`,
        suggestions: [`stop it first with "trustadm stop --dir ${fixture.dir}"`],
      })
    } finally {
      await stop()
    }
  })

  it('says what to do about its port, which no flag of "serve" changes', async () => {
    const fixture = await planeFixture()
    await fixture.provide('certs', 'kubeconfig')
    const other = createServer().listen(0, '127.0.0.1')
    await once(other, 'listening')
    const {port} = other.address() as AddressInfo
    const {plane} = fixture.context
    const settings = {...plane.settings, bindPort: port, bindAddress: '127.0.0.1'}
    try {
      await assert.rejects(serve({...plane, settings}, options), {
        code: 'PORT_IN_USE',
        suggestions: [
          'stop the program that listens there, then run the command again',
          `or change bindPort in ${fixture.dir}/config.yaml: machines that have joined use the old one`,
        ],
      })
    } finally {
      other.close()
      await fixture.remove()
    }
  })
})
