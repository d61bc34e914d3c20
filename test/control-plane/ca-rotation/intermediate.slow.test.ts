import assert from 'node:assert/strict'
import {readFile} from 'node:fs/promises'
import {join} from 'node:path'
import {withClient} from '../../../src/control-plane/ca-rotation/rotation-context.ts'
import {rotate} from '../../../src/control-plane/ca-rotation/rotate.ts'
import {parseCertificate} from '../../../src/pki/certificate.ts'
import {crossSign} from '../../../src/pki/issuer.ts'
import {privateKeyPem} from '../../../src/pki/keys.ts'
import {testAuthority, validAround} from '../../pki/support.ts'
import {planeFixture} from '../plane-fixture.ts'
import {contextFor, observer, serveFixture} from './support.ts'

describe('a rotation to intermediate CAs that their owner brings along with their root', function () {
  this.timeout(60_000)

  it('is completed, and clients accept the server', async () => {
    const fixture = await planeFixture()
    await fixture.provide('certs', 'kubeconfig')
    const stop = await serveFixture(fixture)
    try {
      const root = await testAuthority({commonName: 'root', validity: validAround(new Date(), 800)})
      const next = async (commonName: string) => {
        const {certificate, keys} = await testAuthority({
          commonName,
          validity: validAround(new Date(), 400),
        })
        const own = await crossSign(root.issuer, certificate, validAround(new Date(), 400))
        return {certificatePem: own + root.pem, keyPem: privateKeyPem(keys.privateKey)}
      }
      const brought = new Map([
        ['ca', await next('servers')],
        ['client-ca', await next('clients')],
      ])
      const context = {...contextFor(fixture.context.plane), brought}
      await rotate(context, 'start', {wait: false, observer})
      const {journal} = await rotate(context, 'complete', {wait: false, observer})
      assert.equal(journal.phase, 'Completed')
      const serving = await readFile(join(fixture.dir, 'pki/apiserver.crt'), 'utf8')
      assert.equal(parseCertificate(serving).issuer.commonName, 'servers')
      const {items} = await withClient(context, (client) => client.namespaces.list())
      assert.ok(items.length > 0)
    } finally {
      await stop()
    }
  })
})
