import {failure, stored, type Chapter} from '../step.ts'

export const representations: Chapter = {
  name: 'tables and metadata',
  steps: [
    {
      says: 'starts with a',
      part: 'metadata.name',
      ask: 'POST /api/v1/namespaces/$ns/secrets',
      body: {metadata: {name: 'a', labels: {part: '1', size: '3'}}},
      answer: {code: 201, body: 'a'},
    },
    {
      says: 'starts with b',
      part: 'metadata.name',
      ask: 'POST /api/v1/namespaces/$ns/secrets',
      body: {metadata: {name: 'b', labels: {part: '2', size: '20'}}},
      answer: {code: 201, body: 'b'},
    },
    {
      says: 'starts with c',
      part: 'metadata.name',
      ask: 'POST /api/v1/namespaces/$ns/secrets',
      body: {metadata: {name: 'c', labels: {part: '3'}}},
      answer: {code: 201, body: 'c'},
    },
    {
      says: 'gives metadata alone',
      ask: 'GET /api/v1/namespaces/$ns/secrets?labelSelector=part%3D3',
      accept: 'application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1',
      answer: {
        code: 200,
        body: {
          kind: 'PartialObjectMetadataList',
          apiVersion: 'meta.k8s.io/v1',
          metadata: {resourceVersion: 'X'},
          items: [
            {
              kind: 'PartialObjectMetadata',
              apiVersion: 'meta.k8s.io/v1',
              metadata: stored('c', {labels: {part: '3'}}),
            },
          ],
        },
      },
    },
    {
      says: 'gives a table',
      ask: 'GET /api/v1/namespaces/$ns/secrets?labelSelector=part%3D3',
      accept: 'application/json;as=Table;g=meta.k8s.io;v=v1',
      answer: {
        code: 200,
        body: {
          kind: 'Table',
          apiVersion: 'meta.k8s.io/v1',
          metadata: {resourceVersion: 'X'},
          columnDefinitions: [
            {name: 'Name', type: 'string', format: 'name', description: 'X', priority: 0},
            {name: 'Type', type: 'string', format: '', description: 'X', priority: 0},
            {name: 'Data', type: 'string', format: '', description: 'X', priority: 0},
            {name: 'Age', type: 'string', format: '', description: 'X', priority: 0},
          ],
          rows: [
            {
              cells: ['c', 'Opaque', 0, 'AGE'],
              object: {
                kind: 'PartialObjectMetadata',
                apiVersion: 'meta.k8s.io/v1',
                metadata: stored('c', {labels: {part: '3'}}),
              },
            },
          ],
        },
      },
    },
    {
      says: 'gives a table of one object',
      ask: 'GET /api/v1/namespaces/$ns/secrets/b?includeObject=None',
      accept: 'application/json;as=Table;g=meta.k8s.io;v=v1',
      answer: {
        code: 200,
        body: {
          kind: 'Table',
          apiVersion: 'meta.k8s.io/v1',
          metadata: {resourceVersion: 'X'},
          columnDefinitions: [
            {name: 'Name', type: 'string', format: 'name', description: 'X', priority: 0},
            {name: 'Type', type: 'string', format: '', description: 'X', priority: 0},
            {name: 'Data', type: 'string', format: '', description: 'X', priority: 0},
            {name: 'Age', type: 'string', format: '', description: 'X', priority: 0},
          ],
          rows: [{cells: ['b', 'Opaque', 0, 'AGE'], object: null}],
        },
      },
    },
    {
      says: 'gives a table with whole objects',
      ask: 'GET /api/v1/namespaces/$ns/secrets?labelSelector=part%3D2&includeObject=Object',
      accept: 'application/json;as=Table;g=meta.k8s.io;v=v1',
      answer: {
        code: 200,
        body: {
          kind: 'Table',
          apiVersion: 'meta.k8s.io/v1',
          metadata: {resourceVersion: 'X'},
          columnDefinitions: [
            {name: 'Name', type: 'string', format: 'name', description: 'X', priority: 0},
            {name: 'Type', type: 'string', format: '', description: 'X', priority: 0},
            {name: 'Data', type: 'string', format: '', description: 'X', priority: 0},
            {name: 'Age', type: 'string', format: '', description: 'X', priority: 0},
          ],
          rows: [
            {
              cells: ['b', 'Opaque', 0, 'AGE'],
              object: {
                kind: 'Secret',
                apiVersion: 'v1',
                metadata: stored('b', {labels: {part: '2', size: '20'}}),
                type: 'Opaque',
              },
            },
          ],
        },
      },
    },
    {
      says: 'gives JSON to who would rather have protobuf',
      ask: 'GET /api/v1/namespaces/$ns/secrets/b',
      accept: 'application/vnd.kubernetes.protobuf,application/json',
      answer: {
        code: 200,
        body: {
          kind: 'Secret',
          apiVersion: 'v1',
          metadata: stored('b', {labels: {part: '2', size: '20'}}),
          type: 'Opaque',
        },
      },
    },
    {
      says: 'refuses a table of a review',
      ask: 'POST /apis/authentication.k8s.io/v1/selfsubjectreviews',
      accept: 'application/json;as=Table;g=meta.k8s.io;v=v1',
      body: {},
      answer: failure(
        406,
        'NotAcceptable',
        'only the following media types are accepted: application/json, application/yaml, application/vnd.kubernetes.protobuf',
        {},
      ),
    },
    {
      says: 'deletes what is selected',
      ask: 'DELETE /api/v1/namespaces/$ns/secrets?labelSelector=part%3D1',
      answer: {
        code: 200,
        body: {
          kind: 'SecretList',
          apiVersion: 'v1',
          metadata: {resourceVersion: 'X'},
          items: [{metadata: stored('a', {labels: {part: '1', size: '3'}}), type: 'Opaque'}],
        },
      },
    },
    {
      says: 'leaves the rest',
      ask: 'GET /api/v1/namespaces/$ns/secrets?labelSelector=part',
      accept: 'application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1',
      answer: {
        code: 200,
        body: {
          kind: 'PartialObjectMetadataList',
          apiVersion: 'meta.k8s.io/v1',
          metadata: {resourceVersion: 'X'},
          items: [
            {
              kind: 'PartialObjectMetadata',
              apiVersion: 'meta.k8s.io/v1',
              metadata: stored('b', {labels: {part: '2', size: '20'}}),
            },
            {
              kind: 'PartialObjectMetadata',
              apiVersion: 'meta.k8s.io/v1',
              metadata: stored('c', {labels: {part: '3'}}),
            },
          ],
        },
      },
    },
  ],
}
