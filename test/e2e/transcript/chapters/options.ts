import {failure, invalid, type Chapter} from '../step.ts'

export const options: Chapter = {
  name: 'options and paths',
  steps: [
    {
      says: 'warns of what it does not know',
      ask: 'POST /api/v1/namespaces/$ns/configmaps?dryRun=All',
      body: '{"metadata":{"name":"x","nick":"y"},"data":{"a":"1","a":"2"},"extra":{}}',
      answer: {
        code: 201,
        body: {
          kind: 'ConfigMap',
          apiVersion: 'v1',
          metadata: {name: 'x', namespace: '$ns', uid: 'UID', creationTimestamp: 'TIME'},
          data: {a: '2'},
        },
        warnings: [
          '299 - "unknown field \\"metadata.nick\\""',
          '299 - "unknown field \\"extra\\""',
          '299 - "duplicate field \\"data.a\\""',
        ],
      },
    },
    {
      says: 'refuses what it does not know, where that is asked for',
      ask: 'POST /api/v1/namespaces/$ns/configmaps?fieldValidation=Strict',
      body: '{"metadata":{"name":"x","nick":"y"},"data":{"a":"1","a":"2"},"extra":{}}',
      answer: failure(
        400,
        'BadRequest',
        'ConfigMap in version "v1" cannot be handled as a ConfigMap: strict decoding error: unknown field "metadata.nick", unknown field "extra", duplicate field "data.a"',
      ),
    },
    {
      says: 'says nothing of it, where that is asked for',
      ask: 'POST /api/v1/namespaces/$ns/configmaps?dryRun=All&fieldValidation=Ignore',
      body: {metadata: {name: 'x', nick: 'y'}},
      answer: {
        code: 201,
        body: {
          kind: 'ConfigMap',
          apiVersion: 'v1',
          metadata: {name: 'x', namespace: '$ns', uid: 'UID', creationTimestamp: 'TIME'},
        },
      },
    },
    {
      says: 'refuses a way of validation that is none',
      ask: 'POST /api/v1/namespaces/$ns/configmaps?fieldValidation=Maybe',
      body: {metadata: {name: 'x'}},
      answer: invalid('CreateOptions.meta.k8s.io', '', [
        'fieldValidation',
        'FieldValueNotSupported',
        'Unsupported value: "Maybe": supported values: "", "Ignore", "Strict", "Warn"',
      ]),
    },
    {
      says: 'refuses to create under a name',
      ask: 'POST /api/v1/namespaces/$ns/configmaps/x',
      body: {metadata: {name: 'x'}},
      answer: failure(
        405,
        'MethodNotAllowed',
        'the server does not allow this method on the requested resource',
        {},
      ),
    },
    {
      says: 'knows no such resource',
      ask: 'GET /api/v1/namespaces/$ns/unicorns',
      answer: failure(404, 'NotFound', 'the server could not find the requested resource', {}),
    },
    {
      says: 'knows no such part of an object',
      ask: 'GET /api/v1/namespaces/$ns/configmaps/x/status',
      answer: failure(404, 'NotFound', 'the server could not find the requested resource', {}),
    },
    {
      says: 'knows no such group',
      ask: 'GET /apis/apps/v1/namespaces/$ns/deployments',
      answer: {code: 404, body: '404 page not found\n'},
    },
    {
      says: 'refuses a time-out that is none',
      ask: 'GET /api/v1/namespaces/$ns/configmaps?timeout=soon',
      answer: failure(
        400,
        'BadRequest',
        'invalid timeout specified in the request URL - time: invalid duration "soon"',
      ),
    },
  ],
}
