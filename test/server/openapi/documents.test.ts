import assert from 'node:assert/strict'

import {createOpenapi} from '../../../src/server/openapi/documents.ts'
import {SAMPLE_RESOURCES} from '../discovery/sample-resources.ts'

const openapi = createOpenapi(SAMPLE_RESOURCES)

function get(target: string, headers: Record<string, string> = {}) {
  const {pathname, searchParams} = new URL(target, 'http://localhost')
  return openapi({path: pathname, query: searchParams, headers})
}

function json(target: string): Record<string, any> {
  const answer = get(target)
  assert.equal(answer?.status, 200, target)
  return JSON.parse(Buffer.from(answer.body as Uint8Array).toString()) as Record<string, any>
}

describe('the OpenAPI documents', () => {
  it('are listed with their hashes for every group and version', () => {
    const {paths} = json('/openapi/v3')
    assert.deepEqual(Object.keys(paths).sort(), [
      'api/v1',
      'apis/authorization.k8s.io/v1',
      'apis/certificates.k8s.io/v1',
      'apis/certificates.k8s.io/v1beta1',
      'apis/machine.openshift.io/v1beta1',
    ])
    for (const {serverRelativeURL} of Object.values<{serverRelativeURL: string}>(paths)) {
      const answer = get(serverRelativeURL)
      assert.equal(answer?.status, 200)
      assert.match(String(answer.headers['Cache-Control']), /immutable/)
    }
  })

  it('in v3 tell the kind and the forms of a patch', () => {
    const {paths, components} = json('/openapi/v3/api/v1')
    const {patch} = paths['/api/v1/namespaces/{namespace}/configmaps/{name}']
    assert.deepEqual(patch['x-kubernetes-group-version-kind'], {
      group: '',
      version: 'v1',
      kind: 'ConfigMap',
    })
    assert.ok(patch.requestBody.content['application/strategic-merge-patch+json'])
    assert.ok(components.schemas['io.k8s.api.core.v1.ConfigMap'].properties.data)
    assert.ok(components.schemas['io.k8s.api.core.v1.ConfigMapList'])
  })

  it('in v3 hold every definition that they refer to', () => {
    for (const key of Object.keys(json('/openapi/v3').paths as object)) {
      const document = json(`/openapi/v3/${key}`)
      const referred = JSON.stringify(document).matchAll(/#\/components\/schemas\/([^"]+)/g)
      for (const [, name = ''] of referred) assert.ok(document.components.schemas[name], name)
    }
  })

  it('in v2 are one document, as JSON or as protobuf', () => {
    const {swagger, definitions, paths} = json('/openapi/v2')
    assert.equal(swagger, '2.0')
    assert.ok(definitions['io.k8s.api.certificates.v1beta1.CertificateSigningRequest'])
    assert.ok(paths['/apis/machine.openshift.io/v1beta1/machines'])
    const accept = 'application/com.github.proto-openapi.spec.v2@v1.0+protobuf'
    const answer = get('/openapi/v2', {accept})
    // Go refuses the "@" of what it asks for when it is answered.
    assert.equal(
      answer?.headers['Content-Type'],
      'application/com.github.proto-openapi.spec.v2.v1.0+protobuf',
    )
  })

  it('are not sent again to a client that has them', () => {
    for (const path of ['/openapi/v2', '/openapi/v3', '/openapi/v3/api/v1']) {
      const tag = String(get(path)?.headers.ETag)
      assert.equal(get(path, {'if-none-match': tag})?.status, 304, path)
      assert.equal(get(path, {'if-none-match': '"other"'})?.status, 200, path)
    }
  })

  it('are the same however often they are made', () => {
    const again = createOpenapi([...SAMPLE_RESOURCES].reverse())
    const query = new URLSearchParams()
    assert.equal(
      again({path: '/openapi/v3', query, headers: {}})?.headers.ETag,
      get('/openapi/v3')?.headers.ETag,
    )
  })

  it('leave every other path alone', () => {
    for (const path of ['/openapi', '/openapi/v3/api/v2', '/openapi/v4', '/api']) {
      assert.equal(get(path), undefined, path)
    }
  })
})
