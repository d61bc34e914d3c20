import {failure, type Chapter} from '../step.ts'

export const documents: Chapter = {
  name: 'documents',
  steps: [
    {
      says: 'names the versions of the core',
      ask: 'GET /api/',
      answer: {
        code: 200,
        body: {
          kind: 'APIVersions',
          versions: ['v1'],
          serverAddressByClientCIDRs: [{clientCIDR: '0.0.0.0/0', serverAddress: 'X'}],
        },
      },
    },
    {
      says: 'names a group',
      ask: 'GET /apis/node.k8s.io',
      answer: {
        code: 200,
        body: {
          kind: 'APIGroup',
          apiVersion: 'v1',
          name: 'node.k8s.io',
          versions: [{groupVersion: 'node.k8s.io/v1', version: 'v1'}],
          preferredVersion: {groupVersion: 'node.k8s.io/v1', version: 'v1'},
        },
      },
    },
    {
      says: 'names the resources of a group',
      ask: 'GET /apis/storage.k8s.io/v1',
      answer: {
        code: 200,
        body: {
          kind: 'APIResourceList',
          apiVersion: 'v1',
          groupVersion: 'storage.k8s.io/v1',
          resources: [
            {
              name: 'csidrivers',
              singularName: 'csidriver',
              namespaced: false,
              kind: 'CSIDriver',
              verbs: [
                'create',
                'delete',
                'deletecollection',
                'get',
                'list',
                'patch',
                'update',
                'watch',
              ],
              storageVersionHash: 'X',
            },
            {
              name: 'csinodes',
              singularName: 'csinode',
              namespaced: false,
              kind: 'CSINode',
              verbs: [
                'create',
                'delete',
                'deletecollection',
                'get',
                'list',
                'patch',
                'update',
                'watch',
              ],
              storageVersionHash: 'X',
            },
          ],
        },
      },
    },
    {
      says: 'names the parts of a resource',
      ask: 'GET /apis/machine.openshift.io/v1beta1',
      answer: {
        code: 200,
        body: {
          kind: 'APIResourceList',
          apiVersion: 'v1',
          groupVersion: 'machine.openshift.io/v1beta1',
          resources: [
            {
              name: 'machines',
              singularName: 'machine',
              namespaced: true,
              kind: 'Machine',
              verbs: [
                'create',
                'delete',
                'deletecollection',
                'get',
                'list',
                'patch',
                'update',
                'watch',
              ],
              storageVersionHash: 'X',
            },
            {
              name: 'machines/status',
              singularName: '',
              namespaced: true,
              kind: 'Machine',
              verbs: ['get', 'patch', 'update'],
            },
          ],
        },
      },
    },
    {
      says: 'knows no such version',
      ask: 'GET /apis/storage.k8s.io/v9',
      answer: failure(404, 'NotFound', 'the server could not find the requested resource', {}),
    },
    {
      says: 'knows no such group',
      ask: 'GET /apis/apps/v1',
      answer: {code: 404, body: '404 page not found\n'},
    },
    {says: 'checks one thing', ask: 'GET /readyz/ping', answer: {code: 200, body: 'ok'}},
    {says: 'checks all but one', ask: 'GET /livez?exclude=ping', answer: {code: 200, body: 'ok'}},
    {
      says: 'knows no such check',
      ask: 'GET /healthz/nothing',
      answer: {code: 404, body: '404 page not found\n'},
    },
    {
      says: 'knows the issuer of tokens',
      ask: 'GET /.well-known/openid-configuration',
      answer: {
        code: 200,
        body: {
          issuer: 'https://kubernetes.default.svc.cluster.local',
          jwks_uri: 'https://kubernetes.default.svc.cluster.local/openid/v1/jwks',
          response_types_supported: ['id_token'],
          subject_types_supported: ['public'],
          id_token_signing_alg_values_supported: ['ES256'],
        },
      },
    },
  ],
}
