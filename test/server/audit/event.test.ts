import assert from 'node:assert/strict'
import {auditEvent} from '../../../src/server/audit/event.ts'
import type {AuditedRequest} from '../../../src/server/audit/event.ts'
import {parseRequestInfo} from '../../../src/server/authz/request-info.ts'
import {NOW, request, user} from '../authn/support.ts'

const SECRET = 'abcdef.0123456789abcdef'

const audited = (parts: Partial<AuditedRequest> = {}): AuditedRequest => ({
  auditId: 'id-1',
  request: request({headers: {'user-agent': 'kubectl/v1.36'}}),
  code: 200,
  received: NOW,
  answered: new Date(NOW.getTime() + 12),
  ...parts,
})

describe('auditEvent', () => {
  it('says who did what as whom, and what came of it', () => {
    const caller = {
      ...user('admin', 'system:masters'),
      extra: {'authentication.kubernetes.io/credential-id': ['X509SHA256=00']},
    }
    const info = parseRequestInfo(
      'PUT',
      '/apis/certificates.k8s.io/v1/certificatesigningrequests/c/approval',
      new URLSearchParams(),
    )
    assert.deepEqual(
      auditEvent(
        audited({
          caller,
          impersonated: user('ann', 'g'),
          info,
          decision: 'allow',
          reason: 'RBAC: …',
        }),
      ),
      {
        ts: '2026-01-01T00:00:00.000Z',
        auditID: 'id-1',
        user: 'admin',
        groups: ['system:masters'],
        credentialId: 'X509SHA256=00',
        impersonatedUser: 'ann',
        impersonatedGroups: ['g'],
        sourceIP: '192.0.2.1',
        userAgent: 'kubectl/v1.36',
        verb: 'update',
        apiGroup: 'certificates.k8s.io',
        apiVersion: 'v1',
        resource: 'certificatesigningrequests',
        subresource: 'approval',
        name: 'c',
        decision: 'allow',
        reason: 'RBAC: …',
        code: 200,
        latencyMs: 12,
      },
    )
  })

  it('keeps nothing of headers, query and body', () => {
    const secretive = request({
      path: '/api/v1/namespaces/a/secrets',
      query: new URLSearchParams({token: SECRET}),
      headers: {authorization: `Bearer ${SECRET}`, cookie: SECRET},
      rawHeaders: ['Authorization', `Bearer ${SECRET}`],
      body: Buffer.from(SECRET),
    })
    const info = parseRequestInfo(secretive.method, secretive.path, secretive.query)
    const line = JSON.stringify(auditEvent(audited({request: secretive, info, code: 401})))
    assert.ok(!line.includes(SECRET) && !line.includes(SECRET.slice(7)))
  })

  it('has a line for a request whose path could not be read and whose caller is unknown', () => {
    const {
      user: who,
      verb,
      path,
    } = auditEvent(audited({request: request({method: 'POST', path: '/api/..'}), code: 400}))
    assert.deepEqual({who, verb, path}, {who: undefined, verb: 'post', path: '/api/..'})
  })

  it('bounds what a caller can make it write', () => {
    const long = 'a'.repeat(100_000)
    const event = auditEvent(
      audited({
        request: request({path: `/${long}`, headers: {'user-agent': long}}),
        caller: user(long, ...Array.from({length: 1000}, () => long)),
        auditId: long,
      }),
    )
    assert.ok(JSON.stringify(event).length < 20_000)
  })
})
