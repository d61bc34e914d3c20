import assert from 'node:assert/strict'
import type {TrustError} from '../../../src/errors.ts'
import {parseEtcdPrefix, parseEtcdServer} from '../../../src/storage/etcd/settings.ts'

describe('the address of an etcd server', () => {
  it('is a scheme, a host and a port', () => {
    assert.equal(parseEtcdServer('https://10.0.0.1:2379'), 'https://10.0.0.1:2379')
    assert.equal(parseEtcdServer('http://127.0.0.1:2379/'), 'http://127.0.0.1:2379')
    for (const text of ['10.0.0.1:2379', 'https://host/path', 'ftp://host', ''])
      assert.throws(() => parseEtcdServer(text), {
        code: 'CONFIG_INVALID',
        message: `"${text}" is not the address of an etcd server`,
      })
  })

  it('has no password, and one that was given is not repeated', () => {
    for (const text of ['https://root:hunter2@host:2379', 'root:hunter2@host'])
      assert.throws(
        () => parseEtcdServer(text),
        (error: TrustError) => {
          assert.equal(error.code, 'CONFIG_INVALID')
          assert.doesNotMatch([error.message, ...error.suggestions].join(), /hunter2/)
          return true
        },
      )
  })
})

describe('the prefix of keys in etcd', () => {
  it('starts with a slash and does not end with one', () => {
    for (const text of ['trustadm', '/trustadm', '/trustadm/'])
      assert.equal(parseEtcdPrefix(text), '/trustadm')
    for (const text of ['', 'a b', 'ä']) assert.throws(() => parseEtcdPrefix(text))
  })
})
