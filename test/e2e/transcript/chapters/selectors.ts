import {failure, stored, type Chapter} from '../step.ts'

export const selectors: Chapter = {
  name: 'selectors',
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
      says: 'compares numbers',
      ask: 'GET /api/v1/namespaces/$ns/secrets?labelSelector=size%3E4',
      answer: {
        code: 200,
        body: {
          kind: 'SecretList',
          apiVersion: 'v1',
          metadata: {resourceVersion: 'X'},
          items: [{metadata: stored('b', {labels: {part: '2', size: '20'}}), type: 'Opaque'}],
        },
      },
    },
    {
      says: 'finds one of several, and not another',
      ask: 'GET /api/v1/namespaces/$ns/secrets?labelSelector=part+in+(1,2),size!%3D20',
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
      says: 'finds what lacks a label',
      ask: 'GET /api/v1/namespaces/$ns/secrets?labelSelector=part,!size',
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
      says: 'refuses a selector that ends early',
      ask: 'GET /api/v1/namespaces/$ns/secrets?labelSelector=part+in+(1',
      answer: failure(
        400,
        'BadRequest',
        "unable to parse requirement: found '', expected: ',' or ')'",
      ),
    },
    {
      says: 'refuses a selector with a wrong value',
      ask: 'GET /api/v1/namespaces/$ns/secrets?labelSelector=part%3D-x-',
      answer: failure(
        400,
        'BadRequest',
        `unable to parse requirement: values[0][part]: Invalid value: "-x-": a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyValue',  or 'my_value',  or '12345', regex used for validation is '(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')`,
      ),
    },
    {
      says: 'finds by name',
      ask: 'GET /api/v1/namespaces/$ns/secrets?fieldSelector=metadata.name%3Db',
      answer: {
        code: 200,
        body: {
          kind: 'SecretList',
          apiVersion: 'v1',
          metadata: {resourceVersion: 'X'},
          items: [{metadata: stored('b', {labels: {part: '2', size: '20'}}), type: 'Opaque'}],
        },
      },
    },
    {
      says: 'refuses a selector of fields that is none',
      ask: 'GET /api/v1/namespaces/$ns/secrets?fieldSelector=metadata.name',
      answer: failure(
        400,
        'BadRequest',
        "invalid selector: 'metadata.name'; can't understand 'metadata.name'",
      ),
    },
    {
      says: 'finds secrets by type',
      ask: 'GET /api/v1/namespaces/$ns/secrets?fieldSelector=type%3Dexample.test/none',
      answer: {
        code: 200,
        body: {kind: 'SecretList', apiVersion: 'v1', metadata: {resourceVersion: 'X'}, items: []},
      },
    },
    {
      says: 'finds pods by the node they are on',
      ask: 'GET /api/v1/namespaces/$ns/pods?fieldSelector=spec.nodeName%3Dn,status.phase!%3DFailed',
      answer: {
        code: 200,
        body: {kind: 'PodList', apiVersion: 'v1', metadata: {resourceVersion: 'X'}, items: []},
      },
    },
    {
      says: 'finds events by what they are of',
      ask: 'GET /api/v1/namespaces/$ns/events?fieldSelector=involvedObject.kind%3DPod,involvedObject.uid%3D,reason!%3DStarted',
      answer: {
        code: 200,
        body: {kind: 'EventList', apiVersion: 'v1', metadata: {resourceVersion: 'X'}, items: []},
      },
    },
    {
      says: 'refuses to find nodes by their address',
      ask: 'GET /api/v1/nodes?fieldSelector=status.addresses%3Dx',
      answer: failure(400, 'BadRequest', 'field label not supported: status.addresses'),
    },
  ],
}
