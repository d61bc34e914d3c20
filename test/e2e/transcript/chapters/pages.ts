import {failure, invalid, stored, type Chapter} from '../step.ts'

export const pages: Chapter = {
  name: 'lists in pages',
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
      says: 'gives a first page',
      ask: 'GET /api/v1/namespaces/$ns/secrets?limit=2',
      keep: {next: 'metadata.continue', version: 'metadata.resourceVersion'},
      answer: {
        code: 200,
        body: {
          kind: 'SecretList',
          apiVersion: 'v1',
          metadata: {resourceVersion: 'X', continue: 'X', remainingItemCount: 1},
          items: [
            {metadata: stored('a', {labels: {part: '1', size: '3'}}), type: 'Opaque'},
            {metadata: stored('b', {labels: {part: '2', size: '20'}}), type: 'Opaque'},
          ],
        },
      },
    },
    {
      says: 'goes on after it',
      ask: 'GET /api/v1/namespaces/$ns/secrets?limit=2&continue=$next',
      answer: {
        code: 200,
        body: {
          kind: 'SecretList',
          apiVersion: 'v1',
          metadata: {resourceVersion: 'X'},
          items: [{metadata: stored('c', {labels: {part: '3'}}), type: 'Opaque'}],
        },
      },
    },
    {
      says: 'does not count what it would have to select',
      ask: 'GET /api/v1/namespaces/$ns/secrets?limit=1&labelSelector=part',
      answer: {
        code: 200,
        body: {
          kind: 'SecretList',
          apiVersion: 'v1',
          metadata: {resourceVersion: 'X', continue: 'X'},
          items: [{metadata: stored('a', {labels: {part: '1', size: '3'}}), type: 'Opaque'}],
        },
      },
    },
    {
      says: 'refuses a version beside a page',
      ask: 'GET /api/v1/namespaces/$ns/secrets?limit=2&continue=$next&resourceVersion=$version',
      answer: failure(
        400,
        'BadRequest',
        'specifying resource version is not allowed when using continue',
      ),
    },
    {
      says: 'refuses a rule for a version beside a page',
      ask: 'GET /api/v1/namespaces/$ns/secrets?limit=2&continue=$next&resourceVersionMatch=Exact',
      answer: invalid(
        'ListOptions.meta.k8s.io',
        '',
        [
          'resourceVersionMatch',
          'FieldValueForbidden',
          'Forbidden: resourceVersionMatch is forbidden unless resourceVersion is provided',
        ],
        [
          'resourceVersionMatch',
          'FieldValueForbidden',
          'Forbidden: resourceVersionMatch is forbidden when continue is provided',
        ],
      ),
    },
    {
      says: 'refuses a rule for a version without one',
      ask: 'GET /api/v1/namespaces/$ns/secrets?resourceVersionMatch=NotOlderThan',
      answer: invalid('ListOptions.meta.k8s.io', '', [
        'resourceVersionMatch',
        'FieldValueForbidden',
        'Forbidden: resourceVersionMatch is forbidden unless resourceVersion is provided',
      ]),
    },
    {
      says: 'refuses a rule that is none',
      ask: 'GET /api/v1/namespaces/$ns/secrets?resourceVersion=1&resourceVersionMatch=About',
      answer: invalid('ListOptions.meta.k8s.io', '', [
        'resourceVersionMatch',
        'FieldValueNotSupported',
        'Unsupported value: "About": supported values: "Exact", "NotOlderThan", ""',
      ]),
    },
    {
      says: 'refuses any state exactly',
      ask: 'GET /api/v1/namespaces/$ns/secrets?resourceVersion=0&resourceVersionMatch=Exact',
      answer: invalid('ListOptions.meta.k8s.io', '', [
        'resourceVersionMatch',
        'FieldValueForbidden',
        'Forbidden: resourceVersionMatch "exact" is forbidden for resourceVersion "0"',
      ]),
    },
    {
      says: 'lists a state of the past',
      ask: 'GET /api/v1/namespaces/$ns/secrets?resourceVersion=$version&resourceVersionMatch=Exact&labelSelector=part%3D1',
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
      says: 'refuses events before a list',
      ask: 'GET /api/v1/namespaces/$ns/secrets?sendInitialEvents=true',
      answer: invalid('ListOptions.meta.k8s.io', '', [
        'sendInitialEvents',
        'FieldValueForbidden',
        'Forbidden: sendInitialEvents is forbidden for list',
      ]),
    },
  ],
}
