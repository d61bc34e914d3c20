import assert from 'node:assert/strict'
import {connectionFailure} from '../../../src/storage/etcd/failure.ts'

describe('a failure on the way to etcd', () => {
  for (const [code, kind] of [
    ['ECONNREFUSED', 'unsent'],
    ['CERT_HAS_EXPIRED', 'unsent'],
    ['ERR_SSL_TLSV13_ALERT_CERTIFICATE_REQUIRED', 'unsent'],
    ['ERR_SSL_DECRYPTION_FAILED_OR_BAD_RECORD_MAC', 'unknown'],
    ['EPROTO', 'unknown'],
    ['ECONNRESET', 'unknown'],
  ] as const)
    it(`leaves the request ${kind} after ${code}`, () => {
      const error = Object.assign(new Error('failed'), {code})
      assert.equal(connectionFailure(error, 'https://192.0.2.1:2379').kind, kind)
    })
})
