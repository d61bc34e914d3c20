import {deleted, failure, stored, type Chapter} from '../step.ts'

export const updates: Chapter = {
  name: 'creates and updates',
  steps: [
    {
      says: 'takes only the names of what an account may mount',
      ask: 'POST /api/v1/namespaces/$ns/serviceaccounts',
      body: {
        metadata: {name: 'robot'},
        secrets: [{kind: 'Secret', name: 's', namespace: 'x'}],
        automountServiceAccountToken: false,
      },
      keep: {uid: 'metadata.uid', version: 'metadata.resourceVersion'},
      answer: {
        code: 201,
        body: {
          kind: 'ServiceAccount',
          apiVersion: 'v1',
          metadata: stored('robot'),
          secrets: [{name: 's'}],
          automountServiceAccountToken: false,
        },
      },
    },
    {
      says: 'refuses what exists',
      ask: 'POST /api/v1/namespaces/$ns/serviceaccounts',
      body: {metadata: {name: 'robot'}},
      answer: failure(409, 'AlreadyExists', 'serviceaccounts "robot" already exists', {
        name: 'robot',
        kind: 'serviceaccounts',
      }),
    },
    {
      says: 'updates without a version, whatever is stored',
      ask: 'PUT /api/v1/namespaces/$ns/serviceaccounts/robot',
      body: {metadata: {name: 'robot', labels: {a: 'b'}}},
      answer: {
        code: 200,
        body: {
          kind: 'ServiceAccount',
          apiVersion: 'v1',
          metadata: stored('robot', {labels: {a: 'b'}}),
        },
      },
    },
    {
      says: 'refuses an update of an older version',
      ask: 'PUT /api/v1/namespaces/$ns/serviceaccounts/robot',
      body: {metadata: {name: 'robot', resourceVersion: '$version'}},
      answer: failure(
        409,
        'Conflict',
        'Operation cannot be fulfilled on serviceaccounts "robot": the object has been modified; please apply your changes to the latest version and try again',
        {name: 'robot', kind: 'serviceaccounts'},
      ),
    },
    {
      says: 'refuses an update of another object of that name',
      ask: 'PUT /api/v1/namespaces/$ns/serviceaccounts/robot',
      body: {metadata: {name: 'robot', uid: '00000000-0000-4000-8000-000000000000'}},
      answer: failure(
        409,
        'Conflict',
        'Operation cannot be fulfilled on serviceaccounts "robot": StorageError: invalid object, Code: 4, Key: /registry/serviceaccounts/$ns/robot, ResourceVersion: 0, AdditionalErrorMsg: Precondition failed: UID in precondition: UID, UID in object meta: UID',
        {name: 'robot', kind: 'serviceaccounts'},
      ),
    },
    {
      says: 'refuses a body of another namespace',
      ask: 'POST /api/v1/namespaces/$ns/serviceaccounts',
      body: {metadata: {name: 'x', namespace: 'elsewhere'}},
      answer: failure(
        400,
        'BadRequest',
        'the namespace of the provided object does not match the namespace sent on the request',
      ),
    },
    {
      says: 'refuses a body of another version',
      ask: 'POST /api/v1/namespaces/$ns/serviceaccounts',
      body: {apiVersion: 'v2', kind: 'ServiceAccount', metadata: {name: 'x'}},
      answer: failure(
        400,
        'BadRequest',
        'ServiceAccount in version "v2" cannot be handled as a ServiceAccount: no kind "ServiceAccount" is registered for version "v2" in scheme "pkg/api/legacyscheme/scheme.go:30"',
      ),
    },
    {
      says: 'refuses a field of the wrong type',
      ask: 'POST /api/v1/namespaces/$ns/serviceaccounts',
      body: {metadata: {name: 'x'}, automountServiceAccountToken: 'no'},
      answer: failure(
        400,
        'BadRequest',
        'ServiceAccount in version "v1" cannot be handled as a ServiceAccount: json: cannot unmarshal string into Go struct field ServiceAccount.automountServiceAccountToken of type bool',
      ),
    },
    {
      says: 'refuses to delete another object of that name',
      ask: 'DELETE /api/v1/namespaces/$ns/serviceaccounts/robot',
      body: {preconditions: {uid: '00000000-0000-4000-8000-000000000000'}},
      answer: failure(
        409,
        'Conflict',
        'Operation cannot be fulfilled on ServiceAccount "robot": the UID in the precondition (UID) does not match the UID in record (UID). The object might have been deleted and then recreated',
        {name: 'robot', kind: 'ServiceAccount'},
      ),
    },
    {
      says: 'refuses to delete an older version',
      ask: 'DELETE /api/v1/namespaces/$ns/serviceaccounts/robot',
      body: {preconditions: {resourceVersion: '1'}},
      answer: failure(
        409,
        'Conflict',
        'Operation cannot be fulfilled on ServiceAccount "robot": the ResourceVersion in the precondition (1) does not match the ResourceVersion in record (X). The object might have been modified',
        {name: 'robot', kind: 'ServiceAccount'},
      ),
    },
    {
      says: 'deletes the object that is meant',
      ask: 'DELETE /api/v1/namespaces/$ns/serviceaccounts/robot',
      body: {kind: 'DeleteOptions', apiVersion: 'v1', preconditions: {uid: '$uid'}},
      answer: deleted('serviceaccounts', 'robot'),
    },
  ],
}
