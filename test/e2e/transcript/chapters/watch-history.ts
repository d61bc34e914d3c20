import {deleted, stored, type Chapter} from '../step.ts'

export const watchHistory: Chapter = {
  name: 'watches of what happened',
  steps: [
    {
      says: 'starts with an object',
      part: 'metadata.name',
      ask: 'POST /api/v1/namespaces/$ns/configmaps',
      body: {metadata: {name: 'a', labels: {on: 'yes'}}},
      keep: {version: 'metadata.resourceVersion'},
      answer: {code: 201, body: 'a'},
    },
    {
      says: 'changes it',
      part: 'metadata.name',
      ask: 'PATCH /api/v1/namespaces/$ns/configmaps/a',
      type: 'application/merge-patch+json',
      body: {data: {k: '1'}},
      answer: {code: 200, body: 'a'},
    },
    {
      says: 'takes its label',
      part: 'metadata.name',
      ask: 'PATCH /api/v1/namespaces/$ns/configmaps/a',
      type: 'application/merge-patch+json',
      body: {metadata: {labels: {on: 'no'}}},
      answer: {code: 200, body: 'a'},
    },
    {
      says: 'gives its label back',
      part: 'metadata.name',
      ask: 'PATCH /api/v1/namespaces/$ns/configmaps/a',
      type: 'application/merge-patch+json',
      body: {metadata: {labels: {on: 'yes'}}},
      answer: {code: 200, body: 'a'},
    },
    {
      says: 'makes another',
      part: 'metadata.name',
      ask: 'POST /api/v1/namespaces/$ns/configmaps',
      body: {metadata: {name: 'b', labels: {on: 'yes'}}},
      answer: {code: 201, body: 'b'},
    },
    {
      says: 'deletes the first',
      ask: 'DELETE /api/v1/namespaces/$ns/configmaps/a',
      answer: deleted('configmaps', 'a'),
    },
    {
      says: 'plays what happened since a version',
      ask: 'GET /api/v1/namespaces/$ns/configmaps?watch=true&resourceVersion=$version&fieldSelector=metadata.name%3Da&timeoutSeconds=1',
      together: true,
      answer: {
        code: 200,
        body: [
          {
            type: 'MODIFIED',
            object: {
              kind: 'ConfigMap',
              apiVersion: 'v1',
              metadata: stored('a', {labels: {on: 'yes'}}),
              data: {k: '1'},
            },
          },
          {
            type: 'MODIFIED',
            object: {
              kind: 'ConfigMap',
              apiVersion: 'v1',
              metadata: stored('a', {labels: {on: 'no'}}),
              data: {k: '1'},
            },
          },
          {
            type: 'MODIFIED',
            object: {
              kind: 'ConfigMap',
              apiVersion: 'v1',
              metadata: stored('a', {labels: {on: 'yes'}}),
              data: {k: '1'},
            },
          },
          {
            type: 'DELETED',
            object: {
              kind: 'ConfigMap',
              apiVersion: 'v1',
              metadata: stored('a', {labels: {on: 'yes'}}),
              data: {k: '1'},
            },
          },
        ],
      },
    },
    {
      says: 'plays what began and ceased to match',
      ask: 'GET /api/v1/namespaces/$ns/configmaps?watch=1&resourceVersion=$version&labelSelector=on%3Dyes&timeoutSeconds=1',
      together: true,
      answer: {
        code: 200,
        body: [
          {
            type: 'MODIFIED',
            object: {
              kind: 'ConfigMap',
              apiVersion: 'v1',
              metadata: stored('a', {labels: {on: 'yes'}}),
              data: {k: '1'},
            },
          },
          {
            type: 'DELETED',
            object: {
              kind: 'ConfigMap',
              apiVersion: 'v1',
              metadata: stored('a', {labels: {on: 'yes'}}),
              data: {k: '1'},
            },
          },
          {
            type: 'ADDED',
            object: {
              kind: 'ConfigMap',
              apiVersion: 'v1',
              metadata: stored('a', {labels: {on: 'yes'}}),
              data: {k: '1'},
            },
          },
          {
            type: 'ADDED',
            object: {
              kind: 'ConfigMap',
              apiVersion: 'v1',
              metadata: stored('b', {labels: {on: 'yes'}}),
            },
          },
          {
            type: 'DELETED',
            object: {
              kind: 'ConfigMap',
              apiVersion: 'v1',
              metadata: stored('a', {labels: {on: 'yes'}}),
              data: {k: '1'},
            },
          },
        ],
      },
    },
  ],
}
