import {failure, invalid, stored, type Chapter} from '../step.ts'

const LATE_FINALIZER: [string, string, string] = [
  'metadata.finalizers',
  'FieldValueForbidden',
  'Forbidden: no new finalizers can be added if the object is being deleted, found new finalizers []string{"example.test/d"}',
]

export const patches: Chapter = {
  name: 'patches',
  steps: [
    {
      says: 'starts with a ConfigMap',
      part: 'metadata.name',
      ask: 'POST /api/v1/namespaces/$ns/configmaps',
      body: {
        metadata: {
          name: 'c',
          annotations: {'example.test/x': 'y'},
          finalizers: ['example.test/a', 'example.test/b'],
        },
        data: {one: '1', two: '2'},
      },
      keep: {version: 'metadata.resourceVersion'},
      answer: {code: 201, body: 'c'},
    },
    {
      says: 'adds, replaces, copies and removes',
      ask: 'PATCH /api/v1/namespaces/$ns/configmaps/c',
      type: 'application/json-patch+json',
      body: [
        {op: 'add', path: '/metadata/annotations/example.test~1z', value: '3'},
        {op: 'replace', path: '/data/one', value: 'one'},
        {op: 'copy', from: '/data/two', path: '/data/four'},
        {op: 'remove', path: '/data/two'},
      ],
      answer: {
        code: 200,
        body: {
          kind: 'ConfigMap',
          apiVersion: 'v1',
          metadata: stored('c', {
            annotations: {'example.test/x': 'y', 'example.test/z': '3'},
            finalizers: ['example.test/a', 'example.test/b'],
          }),
          data: {one: 'one', four: '2'},
        },
      },
    },
    {
      says: 'refuses to remove what is not there',
      ask: 'PATCH /api/v1/namespaces/$ns/configmaps/c',
      type: 'application/json-patch+json',
      body: [{op: 'remove', path: '/data/nothing'}],
      answer: failure(
        422,
        'Invalid',
        'the server rejected our request due to an error in our request',
        {},
      ),
    },
    {
      says: 'refuses operations that are none',
      ask: 'PATCH /api/v1/namespaces/$ns/configmaps/c',
      type: 'application/json-patch+json',
      body: {op: 'add'},
      answer: failure(
        400,
        'BadRequest',
        'error decoding patch: json: cannot unmarshal object into Go value of type []handlers.jsonPatchOp',
      ),
    },
    {
      says: 'refuses a patch for an older version',
      ask: 'PATCH /api/v1/namespaces/$ns/configmaps/c',
      type: 'application/merge-patch+json',
      body: {metadata: {resourceVersion: '$version'}, data: {one: 'late'}},
      answer: failure(
        409,
        'Conflict',
        'Operation cannot be fulfilled on configmaps "c": the object has been modified; please apply your changes to the latest version and try again',
        {name: 'c', kind: 'configmaps'},
      ),
    },
    {
      says: 'refuses to change the name',
      ask: 'PATCH /api/v1/namespaces/$ns/configmaps/c',
      type: 'application/merge-patch+json',
      body: {metadata: {name: 'd'}},
      answer: failure(
        400,
        'BadRequest',
        'the name of the object (d) does not match the name on the URL (c)',
      ),
    },
    {
      says: 'merges: nothing removes',
      part: 'data',
      ask: 'PATCH /api/v1/namespaces/$ns/configmaps/c',
      type: 'application/merge-patch+json',
      body: {data: {four: null, nothing: null, five: '5'}},
      answer: {code: 200, body: {one: 'one', five: '5'}},
    },
    {
      says: 'removes a word from a set of them',
      part: 'metadata.finalizers',
      ask: 'PATCH /api/v1/namespaces/$ns/configmaps/c',
      type: 'application/strategic-merge-patch+json',
      body: {metadata: {'$deleteFromPrimitiveList/finalizers': ['example.test/a']}},
      answer: {code: 200, body: ['example.test/b']},
    },
    {
      says: 'adds a word to a set of them',
      part: 'metadata.finalizers',
      ask: 'PATCH /api/v1/namespaces/$ns/configmaps/c',
      type: 'application/strategic-merge-patch+json',
      body: {
        metadata: {
          finalizers: ['example.test/c'],
          '$setElementOrder/finalizers': ['example.test/c', 'example.test/b'],
        },
      },
      answer: {code: 200, body: ['example.test/c', 'example.test/b']},
    },
    {
      says: 'replaces a map as a whole',
      part: 'data',
      ask: 'PATCH /api/v1/namespaces/$ns/configmaps/c',
      type: 'application/strategic-merge-patch+json',
      body: {data: {$patch: 'replace', only: 'this'}},
      answer: {code: 200, body: {only: 'this'}},
    },
    {
      says: 'refuses force for what is no apply',
      ask: 'PATCH /api/v1/namespaces/$ns/configmaps/c?force=true',
      type: 'application/merge-patch+json',
      body: {},
      answer: invalid('PatchOptions.meta.k8s.io', '', [
        'force',
        'FieldValueForbidden',
        'Forbidden: may not be specified for non-apply patch',
      ]),
    },
    {
      says: 'refuses a patch of another kind of text',
      ask: 'PATCH /api/v1/namespaces/$ns/configmaps/c',
      type: 'text/plain',
      body: 'x',
      answer: failure(415, 'UnsupportedMediaType', '415: Unsupported Media Type', {}),
    },
    {
      says: 'begins to delete what finalizers hold',
      ask: 'DELETE /api/v1/namespaces/$ns/configmaps/c',
      answer: {
        code: 200,
        body: {
          kind: 'ConfigMap',
          apiVersion: 'v1',
          metadata: stored('c', {
            annotations: {'example.test/x': 'y', 'example.test/z': '3'},
            finalizers: ['example.test/c', 'example.test/b'],
            deletionTimestamp: 'TIME',
            deletionGracePeriodSeconds: 0,
          }),
          data: {only: 'this'},
        },
      },
    },
    {
      says: 'refuses a finalizer that comes late',
      ask: 'PATCH /api/v1/namespaces/$ns/configmaps/c',
      type: 'application/merge-patch+json',
      body: {metadata: {finalizers: ['example.test/b', 'example.test/c', 'example.test/d']}},
      // By the rule for every kind, and by ConfigMap's own.
      answer: invalid('ConfigMap', 'c', LATE_FINALIZER, LATE_FINALIZER),
    },
    {
      says: 'answers the last state when it lets go',
      ask: 'PATCH /api/v1/namespaces/$ns/configmaps/c',
      type: 'application/merge-patch+json',
      body: {metadata: {finalizers: []}},
      answer: {
        code: 200,
        body: {
          kind: 'ConfigMap',
          apiVersion: 'v1',
          metadata: stored('c', {
            deletionTimestamp: 'TIME',
            deletionGracePeriodSeconds: 0,
            annotations: {'example.test/x': 'y', 'example.test/z': '3'},
          }),
          data: {only: 'this'},
        },
      },
    },
    {
      says: 'has nothing left',
      ask: 'GET /api/v1/namespaces/$ns/configmaps/c',
      answer: failure(404, 'NotFound', 'configmaps "c" not found', {name: 'c', kind: 'configmaps'}),
    },
  ],
}
