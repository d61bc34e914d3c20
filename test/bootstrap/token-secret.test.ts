import assert from 'node:assert/strict'
import fc from 'fast-check'
import {readTokenSecret} from '../../src/bootstrap/read-token-secret.ts'
import {describeToken} from '../../src/bootstrap/token-info.ts'
import {toSecret} from '../../src/bootstrap/token-secret.ts'
import {HOUR, NOW, anyToken} from './support.ts'

const token = {id: 'k2m9xq', secret: 'w8h3t0vz5n1rjc7e'}

function valuesOf({data = {}}: {data?: Record<string, string>}): Record<string, string> {
  return Object.fromEntries(
    Object.entries(data).map(([key, value]) => [key, Buffer.from(value, 'base64').toString()]),
  )
}

describe("a token's Secret", () => {
  it('has the keys that kubeadm writes', () => {
    const secret = toSecret(describeToken(token, {description: 'for rack 7'}, NOW))
    assert.deepEqual(
      {...secret, data: valuesOf(secret)},
      {
        apiVersion: 'v1',
        kind: 'Secret',
        metadata: {name: 'bootstrap-token-k2m9xq', namespace: 'kube-system'},
        type: 'bootstrap.kubernetes.io/token',
        data: {
          'token-id': 'k2m9xq',
          'token-secret': 'w8h3t0vz5n1rjc7e',
          description: 'for rack 7',
          expiration: '2026-03-02T12:00:00Z',
          'usage-bootstrap-authentication': 'true',
          'usage-bootstrap-signing': 'true',
          'auth-extra-groups': 'system:bootstrappers:kubeadm:default-node-token',
        },
      },
    )
  })

  it('leaves out what is not said', () => {
    const usages = {signing: false, authentication: false}
    const secret = toSecret(describeToken(token, {ttl: 0, usages}, NOW))
    assert.deepEqual(valuesOf(secret), {
      'token-id': 'k2m9xq',
      'token-secret': 'w8h3t0vz5n1rjc7e',
    })
  })

  it('gives back the token that was put in', () => {
    const usages = fc.record(
      {signing: fc.boolean(), authentication: fc.boolean()},
      {noNullPrototype: true},
    )
    fc.assert(
      fc.property(anyToken, usages, fc.string({unit: 'grapheme'}), fc.nat(1e6), (...parts) => {
        const [drawn, usage, description, seconds] = parts
        const options = {usages: usage, description, ttl: seconds * 1000}
        const info = describeToken(drawn, options, NOW)
        assert.deepEqual(readTokenSecret(toSecret(info), NOW).info, info)
      }),
    )
  })

  it('is written in whole seconds', () => {
    const info = describeToken(token, {ttl: HOUR + 999}, NOW)
    assert.deepEqual(info.expires, new Date(NOW.getTime() + HOUR))
  })
})
