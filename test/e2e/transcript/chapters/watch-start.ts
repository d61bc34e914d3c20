import {failure, invalid, stored, type Chapter} from '../step.ts'

export const watchStart: Chapter = {
  name: 'watches that begin with what is there',
  steps: [
    {
      says: 'starts with an object',
      part: 'metadata.name',
      ask: 'POST /api/v1/namespaces/$ns/configmaps',
      body: {metadata: {name: 'b', labels: {on: 'yes'}}},
      answer: {code: 201, body: 'b'},
    },
    {
      says: 'begins with what is there',
      ask: 'GET /api/v1/namespaces/$ns/configmaps?watch=true&labelSelector=on&timeoutSeconds=1',
      together: true,
      answer: {
        code: 200,
        body: {
          type: 'ADDED',
          object: {
            kind: 'ConfigMap',
            apiVersion: 'v1',
            metadata: stored('b', {labels: {on: 'yes'}}),
          },
        },
      },
    },
    {
      says: 'says where what is there ends',
      ask: 'GET /api/v1/namespaces/$ns/configmaps?watch=true&labelSelector=on&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true&timeoutSeconds=1',
      together: true,
      answer: {
        code: 200,
        body: [
          {
            type: 'ADDED',
            object: {
              kind: 'ConfigMap',
              apiVersion: 'v1',
              metadata: stored('b', {labels: {on: 'yes'}}),
            },
          },
          {
            type: 'BOOKMARK',
            object: {
              kind: 'ConfigMap',
              apiVersion: 'v1',
              metadata: {resourceVersion: 'X', annotations: {'k8s.io/initial-events-end': 'true'}},
            },
          },
        ],
      },
    },
    {
      says: 'does not say so unasked',
      ask: 'GET /api/v1/namespaces/$ns/configmaps?watch=true&labelSelector=on&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&timeoutSeconds=1',
      together: true,
      answer: {
        code: 200,
        body: {
          type: 'ADDED',
          object: {
            kind: 'ConfigMap',
            apiVersion: 'v1',
            metadata: stored('b', {labels: {on: 'yes'}}),
          },
        },
      },
    },
    {
      says: 'sends nothing of the past where told to',
      ask: 'GET /api/v1/namespaces/$ns/configmaps?watch=true&labelSelector=on&sendInitialEvents=false&resourceVersionMatch=NotOlderThan&timeoutSeconds=1',
      together: true,
      answer: {code: 200, body: []},
    },
    {
      says: 'refuses to begin with what is there at an unknown version',
      ask: 'GET /api/v1/namespaces/$ns/configmaps?watch=true&sendInitialEvents=true&timeoutSeconds=1',
      together: true,
      answer: invalid('ListOptions.meta.k8s.io', '', [
        'resourceVersionMatch',
        'FieldValueForbidden',
        'Forbidden: sendInitialEvents requires setting resourceVersionMatch to NotOlderThan',
      ]),
    },
    {
      says: 'refuses a rule for a version',
      ask: 'GET /api/v1/namespaces/$ns/configmaps?watch=true&resourceVersion=1&resourceVersionMatch=NotOlderThan&timeoutSeconds=1',
      together: true,
      answer: invalid('ListOptions.meta.k8s.io', '', [
        'resourceVersionMatch',
        'FieldValueForbidden',
        'Forbidden: resourceVersionMatch is forbidden for watch unless sendInitialEvents is provided',
      ]),
    },
    {
      says: 'watches by the old path',
      ask: 'GET /api/v1/watch/namespaces/$ns/configmaps/b?timeoutSeconds=1',
      together: true,
      answer: {
        code: 200,
        body: {
          type: 'ADDED',
          object: {
            kind: 'ConfigMap',
            apiVersion: 'v1',
            metadata: stored('b', {labels: {on: 'yes'}}),
          },
        },
      },
    },
    {
      says: 'watches tables',
      ask: 'GET /api/v1/namespaces/$ns/configmaps?watch=true&labelSelector=on&timeoutSeconds=1',
      together: true,
      accept: 'application/json;as=Table;g=meta.k8s.io;v=v1',
      answer: {
        code: 200,
        body: {
          type: 'ADDED',
          object: {
            kind: 'Table',
            apiVersion: 'meta.k8s.io/v1',
            metadata: {resourceVersion: 'X'},
            columnDefinitions: [
              {name: 'Name', type: 'string', format: 'name', description: 'X', priority: 0},
              {name: 'Data', type: 'string', format: '', description: 'X', priority: 0},
              {name: 'Age', type: 'string', format: '', description: 'X', priority: 0},
            ],
            rows: [
              {
                cells: ['b', 0, 'AGE'],
                object: {
                  kind: 'PartialObjectMetadata',
                  apiVersion: 'meta.k8s.io/v1',
                  metadata: stored('b', {labels: {on: 'yes'}}),
                },
              },
            ],
          },
        },
      },
    },
    {
      says: 'marks the end in a table',
      ask: 'GET /api/v1/namespaces/$ns/configmaps?watch=true&labelSelector=on&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true&timeoutSeconds=1',
      together: true,
      accept: 'application/json;as=Table;g=meta.k8s.io;v=v1',
      answer: {
        code: 200,
        body: [
          {
            type: 'ADDED',
            object: {
              kind: 'Table',
              apiVersion: 'meta.k8s.io/v1',
              metadata: {resourceVersion: 'X'},
              columnDefinitions: [
                {name: 'Name', type: 'string', format: 'name', description: 'X', priority: 0},
                {name: 'Data', type: 'string', format: '', description: 'X', priority: 0},
                {name: 'Age', type: 'string', format: '', description: 'X', priority: 0},
              ],
              rows: [
                {
                  cells: ['b', 0, 'AGE'],
                  object: {
                    kind: 'PartialObjectMetadata',
                    apiVersion: 'meta.k8s.io/v1',
                    metadata: stored('b', {labels: {on: 'yes'}}),
                  },
                },
              ],
            },
          },
          {
            type: 'BOOKMARK',
            object: {
              kind: 'Table',
              apiVersion: 'meta.k8s.io/v1',
              metadata: {resourceVersion: 'X'},
              columnDefinitions: null,
              rows: [
                {
                  cells: ['', 0, '<unknown>'],
                  object: {
                    kind: 'PartialObjectMetadata',
                    apiVersion: 'meta.k8s.io/v1',
                    metadata: {
                      resourceVersion: 'X',
                      annotations: {'k8s.io/initial-events-end': 'true'},
                    },
                  },
                },
              ],
            },
          },
        ],
      },
    },
    {
      says: 'watches metadata',
      ask: 'GET /api/v1/namespaces/$ns/configmaps?watch=true&labelSelector=on&timeoutSeconds=1',
      together: true,
      accept: 'application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1',
      answer: {
        code: 200,
        body: {
          type: 'ADDED',
          object: {
            kind: 'PartialObjectMetadata',
            apiVersion: 'meta.k8s.io/v1',
            metadata: stored('b', {labels: {on: 'yes'}}),
          },
        },
      },
    },
    {
      says: 'refuses a selector',
      ask: 'GET /api/v1/namespaces/$ns/configmaps?watch=true&fieldSelector=data%3Dx',
      answer: failure(
        400,
        'BadRequest',
        '"data" is not a known field selector: only "metadata.name", "metadata.namespace"',
      ),
    },
    {
      says: 'watches no reviews',
      ask: 'GET /apis/authorization.k8s.io/v1/selfsubjectaccessreviews?watch=true',
      answer: failure(
        405,
        'MethodNotAllowed',
        'the server does not allow this method on the requested resource',
        {},
      ),
    },
  ],
}
