import {deleted, failure, invalid, stored, type Chapter} from '../step.ts'

export const deletions: Chapter = {
  name: 'deletions',
  steps: [
    {
      says: 'reads a YAML body, and writes words as bytes',
      ask: 'POST /api/v1/namespaces/$ns/secrets',
      type: 'application/yaml',
      body: 'metadata:\n  name: yaml\ntype: example.test/kind\nstringData:\n  word: hello\n',
      answer: {
        code: 201,
        body: {
          kind: 'Secret',
          apiVersion: 'v1',
          metadata: stored('yaml'),
          type: 'example.test/kind',
          data: {word: 'aGVsbG8='},
        },
      },
    },
    {
      says: 'tries a deletion',
      ask: 'DELETE /api/v1/namespaces/$ns/secrets/yaml?dryRun=All',
      answer: deleted('secrets', 'yaml'),
    },
    {
      says: 'shows that nothing was deleted',
      ask: 'GET /api/v1/namespaces/$ns/secrets/yaml',
      accept: 'application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1',
      answer: {
        code: 200,
        body: {
          kind: 'PartialObjectMetadata',
          apiVersion: 'meta.k8s.io/v1',
          metadata: stored('yaml'),
        },
      },
    },
    {
      says: 'refuses options that contradict',
      ask: 'DELETE /api/v1/namespaces/$ns/secrets/yaml',
      body: {orphanDependents: true, propagationPolicy: 'Background'},
      answer: invalid('DeleteOptions.meta.k8s.io', '', [
        'propagationPolicy',
        'FieldValueForbidden',
        'Forbidden: orphanDependents and deletionPropagation cannot be both set',
      ]),
    },
    {
      says: 'refuses a policy that is none',
      ask: 'DELETE /api/v1/namespaces/$ns/secrets/yaml?propagationPolicy=Sideways',
      answer: invalid('DeleteOptions.meta.k8s.io', '', [
        'propagationPolicy',
        'FieldValueNotSupported',
        'Unsupported value: "Sideways": supported values: "Foreground", "Background", "Orphan", "nil"',
      ]),
    },
    {
      says: 'refuses to delete all namespaces',
      ask: 'DELETE /api/v1/namespaces',
      answer: failure(
        405,
        'MethodNotAllowed',
        'the server does not allow this method on the requested resource',
        {},
      ),
    },
  ],
}
