import assert from 'node:assert/strict'
import type {Status} from '../../src/api/meta.ts'
import {fromForeignAnswer, fromStatus, isMissingObject} from '../../src/client/status-errors.ts'
import {status} from './support/fake-api.ts'

describe('fromStatus', () => {
  it('says what helps where no role would: a request for the group system:masters', () => {
    const said =
      'use of kubernetes.io/kube-apiserver-client signer with system:masters group is not allowed'
    const {suggestions} = fromStatus(status(403, 'Forbidden', said) as Status)
    assert.match(suggestions.join('\n'), /another one.+cluster-admin\n.+kubeconfig user/)
  })

  const codes: [code: number, reason: string, expected: string][] = [
    [400, 'BadRequest', 'BAD_REQUEST'],
    [401, 'Unauthorized', 'UNAUTHORIZED'],
    [403, 'Forbidden', 'FORBIDDEN'],
    [404, 'NotFound', 'NOT_FOUND'],
    [405, 'MethodNotAllowed', 'BAD_REQUEST'],
    [409, 'AlreadyExists', 'ALREADY_EXISTS'],
    [409, 'Conflict', 'CONFLICT'],
    [410, 'Expired', 'EXPIRED'],
    [410, 'Gone', 'EXPIRED'],
    [413, 'RequestEntityTooLarge', 'BAD_REQUEST'],
    [415, 'UnsupportedMediaType', 'BAD_REQUEST'],
    [422, 'Invalid', 'INVALID'],
    [429, 'TooManyRequests', 'TOO_MANY_REQUESTS'],
    [500, 'InternalError', 'SERVER_ERROR'],
    [500, 'ServerTimeout', 'TIMED_OUT'],
    [503, 'ServiceUnavailable', 'SERVER_ERROR'],
    [504, 'Timeout', 'TIMED_OUT'],
    [409, '', 'CONFLICT'],
    [418, 'Teapot', 'BAD_REQUEST'],
  ]
  for (const [code, reason, expected] of codes) {
    it(`gives ${expected} for ${code} ${reason}`, () => {
      const error = fromStatus(status(code, reason, 'said') as Status)
      assert.deepEqual([error.code, error.message, error.facts.status], [expected, 'said', code])
    })
  }

  it('names the resource that a permission is missing for, in a hint', () => {
    const details = {name: 'a', group: 'certificates.k8s.io', kind: 'certificatesigningrequests'}
    const error = fromStatus(status(403, 'Forbidden', 'said', details) as Status)
    assert.deepEqual(error.suggestions, [
      'use the kubeconfig of an administrator, or grant this user a role that allows it on "certificatesigningrequests.certificates.k8s.io"',
    ])
  })

  it('takes nothing for its hint from the message', () => {
    const message = 'forbidden: User "bob" cannot get path "/metrics/x"'
    const error = fromStatus(status(403, 'Forbidden', message) as Status)
    assert.deepEqual(error.suggestions, [
      'use the kubeconfig of an administrator, or grant this user the permission',
    ])
  })

  it('keeps the terminal safe from a hostile server', () => {
    const error = fromStatus(status(400, 'BadRequest', '\u001b]0;evil\u0007\u009b2J') as Status)
    assert.equal(error.message, ' ]0;evil 2J')
  })

  it('cuts an endless message', () => {
    const error = fromStatus(status(400, 'BadRequest', 'x'.repeat(1_000_000)) as Status)
    assert.ok(error.message.length < 3000)
  })
})

describe('fromForeignAnswer', () => {
  it('says that a redirect is not followed', () => {
    const error = fromForeignAnswer(302)
    assert.equal(error.code, 'SERVER_ERROR')
    assert.match(error.message, /redirect \(302\)/)
  })

  it('says that a success of another kind of server is none', () => {
    assert.equal(fromForeignAnswer(200).code, 'SERVER_ERROR')
  })
})

describe('isMissingObject', () => {
  it('is true for an object that is not there', () => {
    const missing = status(404, 'NotFound', 'secrets "x" not found', {name: 'x', kind: 'secrets'})
    assert.equal(isMissingObject(fromStatus(missing as Status)), true)
  })

  it('is false for a resource or a path that is not served', () => {
    const unknown = status(404, 'NotFound', 'the server could not find the requested resource')
    assert.equal(isMissingObject(fromStatus(unknown as Status)), false)
    assert.equal(isMissingObject(fromForeignAnswer(404)), false)
  })
})
