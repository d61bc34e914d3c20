import assert from 'node:assert/strict'
import {connectionError, wasCut, wasNeverSent} from '../../src/client/connection-errors.ts'
import {TrustError} from '../../src/errors.ts'

const SERVER = 'https://10.0.0.1:6443'

function failure(code: string, message = 'raw text'): Error {
  return Object.assign(new Error(message), {code})
}

describe('connectionError', () => {
  it('says that the server refused the client certificate', () => {
    const error = connectionError(failure('ERR_SSL_TLSV1_ALERT_UNKNOWN_CA'), SERVER)
    assert.equal(error.code, 'UNAUTHORIZED')
    assert.equal(error.message, `${SERVER} refused the client certificate`)
  })

  it('says more than the words of OpenSSL when no TLS version fits', () => {
    const error = connectionError(failure('ERR_SSL_TLSV1_ALERT_PROTOCOL_VERSION'), SERVER)
    assert.equal(error.code, 'TLS_FAILED')
    assert.match(error.message, /could not agree on a secure connection/)
    assert.match(error.suggestions.join(), /TLS 1\.2/)
  })

  it('looks into the error that undici wrapped', () => {
    const error = connectionError(
      new Error('fetch failed', {cause: failure('ECONNREFUSED')}),
      SERVER,
    )
    assert.match(error.message, /nothing listens there/)
  })

  it('leaves an error that is already explained as it is', () => {
    const known = new TrustError('TIMED_OUT', 'late')
    assert.equal(connectionError(known, SERVER), known)
  })

  it('takes control characters out of a hostile certificate', () => {
    const error = Object.assign(failure('ERR_TLS_CERT_ALTNAME_INVALID'), {
      host: '10.0.0.1',
      cert: {subjectaltname: 'DNS:\u001b[2Jevil'},
    })
    assert.equal(connectionError(error, SERVER).message.includes('\u001b'), false)
  })

  for (const code of ['ECONNREFUSED', 'EHOSTUNREACH', 'UND_ERR_CONNECT_TIMEOUT']) {
    it(`knows that nothing was sent after ${code}`, () => {
      const error = connectionError(failure(code), SERVER)
      assert.deepEqual([wasNeverSent(error), wasCut(error)], [true, false])
    })
  }

  for (const code of ['ECONNRESET', 'EPIPE', 'UND_ERR_SOCKET']) {
    it(`knows that the request may have been done after ${code}`, () => {
      const error = connectionError(failure(code), SERVER)
      assert.deepEqual([wasNeverSent(error), wasCut(error)], [false, true])
    })
  }

  it('takes a distrusted server for neither', () => {
    const error = connectionError(failure('CERT_HAS_EXPIRED'), SERVER)
    assert.deepEqual([wasNeverSent(error), wasCut(error)], [false, false])
  })
})
