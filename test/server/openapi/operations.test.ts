import assert from 'node:assert/strict'

import {servedGroups} from '../../../src/server/discovery/served.ts'
import {operationsOf} from '../../../src/server/openapi/operations.ts'
import {SAMPLE_RESOURCES} from '../discovery/sample-resources.ts'

const operations = servedGroups(SAMPLE_RESOURCES)
  .flatMap(({versions}) => versions.flatMap(({resources}) => resources))
  .flatMap(operationsOf)

const at = (path: string) => operations.filter((operation) => operation.path === path)

const find = (id: string) => {
  const operation = operations.find((one) => one.id === id)
  assert.ok(operation, id)
  return operation
}

describe('operations', () => {
  it('of a namespaced kind stand in a namespace, but for a list of all', () => {
    const collection = '/api/v1/namespaces/{namespace}/configmaps'
    assert.deepEqual(
      at(collection).map(({method}) => method),
      ['get', 'post', 'delete'],
    )
    assert.deepEqual(
      at(`${collection}/{name}`).map(({method}) => method),
      ['get', 'put', 'patch', 'delete'],
    )
    assert.deepEqual(
      at('/api/v1/configmaps').map(({action}) => action),
      ['list'],
    )
  })

  it('are called as Kubernetes calls them', () => {
    assert.equal(find('listCoreV1NamespacedConfigMap').tag, 'core_v1')
    assert.equal(find('deleteCoreV1CollectionNamespacedConfigMap').action, 'deletecollection')
    assert.equal(
      find('replaceCertificatesV1CertificateSigningRequestApproval').path,
      '/apis/certificates.k8s.io/v1/certificatesigningrequests/{name}/approval',
    )
  })

  it('offer a strategic merge patch for every kind but custom ones', () => {
    const offered = (id: string) => find(id).body?.contentTypes ?? []
    const strategic = 'application/strategic-merge-patch+json'
    assert.ok(offered('patchCoreV1NamespacedConfigMap').includes(strategic))
    const custom = offered('patchMachineOpenshiftIoV1beta1NamespacedMachine')
    assert.ok(!custom.includes(strategic))
    assert.ok(custom.includes('application/merge-patch+json'))
  })

  it('let kubectl find the parameters that it relies on', () => {
    for (const operation of operations.filter(({method}) => method === 'patch')) {
      const names = operation.parameters.map(({name}) => name)
      assert.ok(names.includes('fieldValidation'), operation.id)
      assert.ok(names.includes('dryRun'), operation.id)
    }
  })

  it('speak the kind of a subresource where it has its own', () => {
    const [token, ...others] = at('/api/v1/namespaces/{namespace}/serviceaccounts/{name}/token')
    assert.deepEqual(others, [])
    assert.deepEqual(token?.gvk, {
      group: 'authentication.k8s.io',
      version: 'v1',
      kind: 'TokenRequest',
    })
  })

  it('of a review are its creation alone', () => {
    const path = '/apis/authorization.k8s.io/v1/selfsubjectaccessreviews'
    assert.deepEqual(
      at(path).map(({action}) => action),
      ['post'],
    )
    assert.deepEqual(at(`${path}/{name}`), [])
  })

  it('each have an id of their own', () => {
    assert.equal(new Set(operations.map(({id}) => id)).size, operations.length)
  })
})
