import assert from 'node:assert/strict'
import {auditLine} from '../../../src/server/audit/event.ts'
import type {AuditEvent, AuditedRequest} from '../../../src/server/audit/event.ts'
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

const auditEvent = (parts: AuditedRequest) => JSON.parse(auditLine(parts)) as AuditEvent

describe('auditLine', () => {
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
          issuer: 'ab12',
          impersonated: user('ann', 'g'),
          info,
          decision: 'allow',
          reason: 'RBAC: …',
        }),
      ),
      {
        kind: 'Event',
        apiVersion: 'audit.k8s.io/v1',
        level: 'Metadata',
        auditID: 'id-1',
        stage: 'ResponseComplete',
        requestURI: '/version',
        verb: 'update',
        user: {
          username: 'admin',
          groups: ['system:masters'],
          extra: {'authentication.kubernetes.io/credential-id': ['X509SHA256=00']},
        },
        impersonatedUser: {username: 'ann', groups: ['g']},
        sourceIPs: ['192.0.2.1'],
        userAgent: 'kubectl/v1.36',
        objectRef: {
          resource: 'certificatesigningrequests',
          name: 'c',
          apiGroup: 'certificates.k8s.io',
          apiVersion: 'v1',
          subresource: 'approval',
        },
        responseStatus: {metadata: {}, code: 200},
        requestReceivedTimestamp: '2026-01-01T00:00:00.000000Z',
        stageTimestamp: '2026-01-01T00:00:00.012000Z',
        annotations: {
          'authorization.k8s.io/decision': 'allow',
          'authorization.k8s.io/reason': 'RBAC: …',
          'trustadm.io/issuer': 'ab12',
        },
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
    const line = auditLine(audited({request: secretive, info, code: 401}))
    assert.ok(!line.includes(SECRET) && !line.includes(SECRET.slice(7)))
  })

  it('has a line for a request whose path could not be read and whose caller is unknown', () => {
    const event = auditEvent(
      audited({request: request({method: 'POST', path: '/api/..'}), code: 400}),
    )
    assert.deepEqual([event.user, event.verb, event.requestURI], [{}, 'post', '/api/..'])
  })

  for (const [name, character] of [
    ['plain letters', 'a'],
    ['control characters', '\u0000'],
    ['halves of characters', '\ud800'],
    ['quotes', '"'],
    ['wide characters', '\u4e00'],
  ] as const) {
    it(`bounds the line that a caller can make it write: ${name}`, () => {
      const long = character.repeat(100_000)
      const somebody = {
        ...user(long, ...Array.from({length: 1000}, () => character.repeat(200))),
        uid: long,
        extra: {'authentication.kubernetes.io/credential-id': [long]},
      }
      const line = auditLine(
        audited({
          request: request({path: `/${long}`, headers: {'user-agent': long}}),
          info: {
            kind: 'resource',
            verb: 'get',
            group: long,
            version: long,
            resource: long,
            subresource: long,
            namespace: long,
            name: long,
            inNamespace: true,
            named: true,
            watchPath: false,
            rest: [],
          },
          caller: somebody,
          impersonated: somebody,
          decision: 'forbid',
          reason: long,
          refused: long,
          auditId: long,
        }),
      )
      assert.ok(Buffer.byteLength(line) < 24_000)
      assert.equal((JSON.parse(line) as AuditEvent).kind, 'Event')
    })
  }
})
