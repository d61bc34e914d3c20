import assert from 'node:assert/strict'
import {once} from 'node:events'
import {connect, type SecureVersion, type TLSSocket} from 'node:tls'
import {parseCertificate} from '../../../src/pki/certificate.ts'
import type {KeyAlgorithm} from '../../../src/pki/keys.ts'
import type {Handler} from '../../../src/server/kernel/api-request.ts'
import {Listener} from '../../../src/server/http/listener.ts'
import {json, rawConnection, servingMaterial, untilClosed, type Place} from './support.ts'

const handler: Handler = () => Promise.resolve(json({}))

const FORBIDDEN = [
  'ECDHE-ECDSA-AES128-SHA256',
  'ECDHE-ECDSA-AES256-SHA384',
  'ECDHE-ECDSA-AES128-SHA',
  'ECDHE-RSA-AES128-SHA256',
  'ECDHE-RSA-AES256-SHA384',
  'ECDHE-RSA-AES256-SHA',
  'AES128-GCM-SHA256',
  'AES256-GCM-SHA384',
  'AES128-SHA',
  'AES128-CCM',
  'DHE-RSA-AES128-GCM-SHA256',
]

for (const algorithm of ['ECDSA-P256', 'RSA-2048'] satisfies KeyAlgorithm[]) {
  describe(`TLS with a serving key of ${algorithm}`, () => {
    let listener: Listener
    let place: Place

    before(async () => {
      const tls = await servingMaterial(algorithm)
      listener = await Listener.start({handler, host: '127.0.0.1', port: 0, tls})
      place = {port: listener.port, ca: tls.clientAuthorities}
      // What a client gets must not depend on whether the certificate was swapped.
      listener.setTls(tls)
    })
    after(() => listener.close(0))

    async function handshake(ciphers: string, maxVersion: SecureVersion): Promise<TLSSocket> {
      const socket = connect({host: '127.0.0.1', ...place, ciphers, maxVersion})
      await once(socket, 'secureConnect')
      return socket
    }

    for (const cipher of FORBIDDEN) {
      it(`refuses ${cipher}`, async () => {
        await assert.rejects(handshake(`${cipher}@SECLEVEL=0`, 'TLSv1.2'), /handshake failure/)
      })
    }

    it('takes what is forward secret and authenticated', async () => {
      const kind = algorithm.startsWith('RSA') ? 'RSA' : 'ECDSA'
      for (const suite of ['AES128-GCM-SHA256', 'AES256-GCM-SHA384', 'CHACHA20-POLY1305']) {
        const socket = await handshake(`ECDHE-${kind}-${suite}`, 'TLSv1.2')
        assert.equal(socket.getCipher().name, `ECDHE-${kind}-${suite}`)
        socket.destroy()
      }
    })

    it('sends the CA that has signed its certificate, for clients that know only its pin', async () => {
      const socket = connect({host: '127.0.0.1', port: place.port, rejectUnauthorized: false})
      await once(socket, 'secureConnect')
      const {issuerCertificate} = socket.getPeerCertificate(true)
      assert.deepEqual(issuerCertificate.raw, parseCertificate(place.ca).der)
      socket.destroy()
    })

    it('does not negotiate again on an open connection', async () => {
      const socket = await rawConnection(place, {maxVersion: 'TLSv1.2'})
      const error = await new Promise<Error | null>((resolve) => {
        socket.renegotiate({rejectUnauthorized: true}, resolve)
        socket.once('error', resolve)
      })
      assert.match(String(error), /no.renegotiation/i)
      socket.destroy()
    })

    it('resumes no session', async () => {
      for (const maxVersion of ['TLSv1.2', 'TLSv1.3'] as const) {
        const first = await rawConnection(place, {maxVersion})
        let session = first.getSession()
        first.on('session', (later: Buffer<ArrayBuffer>) => (session = later))
        first.write('GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n')
        await untilClosed(first)
        const second = await rawConnection(place, {maxVersion, session})
        assert.equal(second.isSessionReused(), false, maxVersion)
        second.destroy()
      }
    })
  })
}
