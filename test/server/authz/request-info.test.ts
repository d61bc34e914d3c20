import assert from 'node:assert/strict'
import fc from 'fast-check'
import {attributesOf, parseRequestInfo} from '../../../src/server/authz/request-info.ts'
import {StatusError} from '../../../src/server/kernel/status.ts'

const parse = (method: string, url: string) => {
  const [path = '', query = ''] = url.split('?')
  return parseRequestInfo(method, path, new URLSearchParams(query))
}

/** verb group/version resource/sub namespace name; `-` where empty. */
function summary(method: string, url: string): string {
  const info = parse(method, url)
  if (info.kind === 'nonResource') return `${info.verb} ${info.path}`
  const {verb, group, version, resource, subresource, namespace, name} = info
  return [verb, group, version, resource, subresource, namespace, name]
    .map((part) => (part === '' ? '-' : part))
    .join(' ')
}

const understood: [string, string, string][] = [
  ['GET', '/', 'get /'],
  ['GET', '/api', 'get /api'],
  ['GET', '/api/v1', 'get /api/v1'],
  ['GET', '/api/v1/', 'get /api/v1/'],
  ['GET', '/apis/apps/v1', 'get /apis/apps/v1'],
  ['GET', '/openapi/v3', 'get /openapi/v3'],
  ['HEAD', '/version', 'head /version'],
  ['POST', '/healthz/etcd', 'post /healthz/etcd'],
  ['GET', '/version//x', 'get /version/x'],
  ['GET', '/api/v1/pods', 'list - v1 pods - - -'],
  ['HEAD', '/api/v1/pods', 'list - v1 pods - - -'],
  ['GET', '/api/v1/pods/', 'list - v1 pods - - -'],
  ['GET', '/api/v1/pods?watch', 'watch - v1 pods - - -'],
  ['GET', '/api/v1/pods?watch=true', 'watch - v1 pods - - -'],
  ['GET', '/api/v1/pods?watch=1', 'watch - v1 pods - - -'],
  ['GET', '/api/v1/pods?watch=nonsense', 'watch - v1 pods - - -'],
  ['GET', '/api/v1/pods?watch=False', 'list - v1 pods - - -'],
  ['GET', '/api/v1/pods?watch=0', 'list - v1 pods - - -'],
  ['GET', '/api/v1/watch/pods', 'watch - v1 pods - - -'],
  ['GET', '/api/v1/watch/namespaces/a/pods/p', 'watch - v1 pods - a p'],
  ['GET', '/api/v1/namespaces', 'list - v1 namespaces - - -'],
  ['GET', '/api/v1/namespaces/a', 'get - v1 namespaces - a a'],
  ['PUT', '/api/v1/namespaces/a/finalize', 'update - v1 namespaces finalize a a'],
  ['PATCH', '/api/v1/namespaces/a/status', 'patch - v1 namespaces status a a'],
  ['GET', '/api/v1/namespaces/a/secrets', 'list - v1 secrets - a -'],
  ['GET', '/api/v1/namespaces/a/secrets/s', 'get - v1 secrets - a s'],
  ['GET', '/api/v1/namespaces/a/secrets/s?watch=true', 'get - v1 secrets - a s'],
  ['POST', '/api/v1/namespaces/a/secrets', 'create - v1 secrets - a -'],
  ['DELETE', '/api/v1/namespaces/a/secrets', 'deletecollection - v1 secrets - a -'],
  ['DELETE', '/api/v1/namespaces/a/secrets/s', 'delete - v1 secrets - a s'],
  [
    'DELETE',
    '/api/v1/namespaces/a/secrets?fieldSelector=metadata.name%3Ds',
    'deletecollection - v1 secrets - a -',
  ],
  [
    'GET',
    '/api/v1/namespaces/a/secrets?fieldSelector=metadata.name%3Ds',
    'list - v1 secrets - a s',
  ],
  [
    'GET',
    '/api/v1/namespaces/a/secrets?watch=1&fieldSelector=metadata.name%3Ds',
    'watch - v1 secrets - a s',
  ],
  ['POST', '/api/v1/namespaces/a/serviceaccounts/b/token', 'create - v1 serviceaccounts token a b'],
  ['PATCH', '/api/v1/nodes/n1/status', 'patch - v1 nodes status - n1'],
  [
    'PUT',
    '/apis/certificates.k8s.io/v1/certificatesigningrequests/node-csr-A_b/approval',
    'update certificates.k8s.io v1 certificatesigningrequests approval - node-csr-A_b',
  ],
  [
    'GET',
    '/apis/rbac.authorization.k8s.io/v1/clusterroles/system%3Anode',
    'get rbac.authorization.k8s.io v1 clusterroles - - system:node',
  ],
  ['OPTIONS', '/api/v1/pods', '- - v1 pods - - -'],
]

const refused: [string, string][] = [
  ['a path without a slash', 'api/v1/pods'],
  ['a dot segment', '/api/v1/namespaces/a/secrets/..'],
  ['a dot segment in the middle', '/api/v1/namespaces/a/../b/secrets'],
  ['a single dot', '/api/v1/./pods'],
  ['an encoded dot segment', '/api/v1/namespaces/a/secrets/%2e%2E'],
  ['a dot segment on a path that is no resource', '/healthz/../api/v1/secrets'],
  ['an encoded slash', '/api/v1/namespaces/a%2fsecrets'],
  ['an encoded slash in capitals', '/api/v1/namespaces/a%2Fsecrets'],
  ['an encoded backslash', '/api/v1/namespaces/a%5csecrets'],
  ['a backslash', '/api/v1/namespaces\\a'],
  ['an encoded NUL', '/api/v1/namespaces/a%00'],
  ['a control character', '/api/v1/namespaces/a%0d%0a'],
  ['half a percent-encoding', '/api/v1/namespaces/a%2'],
  ['a percent-encoding that is no UTF-8', '/api/v1/namespaces/%ff'],
  ['an empty segment', '/api/v1//pods'],
  ['an empty segment before the prefix', '//api/v1/pods'],
  ['an empty segment in a group path', '/apis//v1'],
  ['two slashes at the end', '/api/v1/pods//'],
  ['a watch of nothing', '/api/v1/watch'],
  ['a very long path', `/api/v1/${'a'.repeat(10_000)}`],
]

describe('parseRequestInfo', () => {
  for (const [method, url, expected] of understood) {
    it(`reads ${method} ${url}`, () => {
      assert.equal(summary(method, url), expected)
    })
  }

  for (const [name, path] of refused) {
    it(`refuses ${name}`, () => {
      assert.throws(
        () => parseRequestInfo('GET', path, new URLSearchParams()),
        (error) => error instanceof StatusError && error.code === 400,
      )
    })
  }

  it('tells a path under a namespace from one that is not', () => {
    const [within, itself] = ['/api/v1/namespaces/a/nodes/n', '/api/v1/namespaces/a'].map((path) =>
      parse('GET', path),
    )
    assert.equal(within?.kind === 'resource' && within.inNamespace, true)
    assert.equal(itself?.kind === 'resource' && itself.inNamespace, false)
  })

  it('keeps what stands behind a subresource, so that the router can refuse it', () => {
    const info = parse('GET', '/api/v1/nodes/n/proxy/metrics')
    assert.deepEqual(info.kind === 'resource' && info.rest, ['metrics'])
  })

  it('hands the selectors to the authorizer', () => {
    const info = parse('GET', '/api/v1/pods?fieldSelector=spec.nodeName%3Dn1&labelSelector=a%3Db')
    const {resource} = attributesOf(info)
    assert.equal(resource?.fieldSelector, 'spec.nodeName=n1')
    assert.equal(resource?.labelSelector, 'a=b')
  })

  it('never lets a separator, a dot segment or a control character through, whatever is sent', () => {
    const piece = fc.constantFrom('/', '.', '..', '%2f', '%2e', '%', 'api', 'v1', 'a', '%00', '\\')
    fc.assert(
      fc.property(fc.array(piece, {maxLength: 12}), (pieces) => {
        try {
          const info = parseRequestInfo('GET', `/${pieces.join('')}`, new URLSearchParams())
          const parts =
            info.kind === 'resource'
              ? [info.group, info.version, info.resource, info.namespace, info.name]
              : info.path.split('/')
          for (const part of parts) {
            assert.ok(part !== '.' && part !== '..' && !/[/\\\p{Cc}]/u.test(part))
          }
        } catch (error) {
          assert.ok(error instanceof StatusError && error.code === 400, String(error))
        }
      }),
    )
  })
})
