import {failure, invalid, stored, type Chapter} from '../step.ts'

export const applyAlone: Chapter = {
  name: 'applying',
  steps: [
    {
      says: 'takes YAML',
      ask: 'PATCH /api/v1/namespaces/$ns/serviceaccounts/robot?fieldManager=one',
      type: 'application/apply-patch+yaml',
      body: 'apiVersion: v1\nkind: ServiceAccount\nmetadata:\n  name: robot\nimagePullSecrets:\n- name: a\n',
      answer: {
        code: 201,
        body: {
          kind: 'ServiceAccount',
          apiVersion: 'v1',
          metadata: stored('robot'),
          imagePullSecrets: [{name: 'a'}],
        },
      },
    },
    {
      says: 'changes nothing when the same is applied again',
      part: 'metadata.managedFields',
      ask: 'PATCH /api/v1/namespaces/$ns/serviceaccounts/robot?fieldManager=one',
      type: 'application/apply-patch+yaml',
      body: 'apiVersion: v1\nkind: ServiceAccount\nmetadata:\n  name: robot\nimagePullSecrets:\n- name: a\n',
      owners: true,
      answer: {
        code: 200,
        body: [
          {
            manager: 'one',
            operation: 'Apply',
            apiVersion: 'v1',
            time: 'TIME',
            fieldsType: 'FieldsV1',
            fieldsV1: {'f:imagePullSecrets': {}},
          },
        ],
      },
    },
    {
      says: 'refuses an apply without a kind',
      ask: 'PATCH /api/v1/namespaces/$ns/serviceaccounts/robot?fieldManager=one',
      type: 'application/apply-patch+yaml',
      body: {metadata: {name: 'robot'}},
      answer: failure(400, 'BadRequest', 'invalid object type: /, Kind='),
    },
    {
      says: 'refuses an apply of another name',
      ask: 'PATCH /api/v1/namespaces/$ns/serviceaccounts/robot?fieldManager=one',
      type: 'application/apply-patch+yaml',
      body: {apiVersion: 'v1', kind: 'ServiceAccount', metadata: {name: 'other'}},
      answer: failure(
        400,
        'BadRequest',
        'the name of the object (other) does not match the name on the URL (robot)',
      ),
    },
    {
      says: 'refuses an apply that carries owners',
      ask: 'PATCH /api/v1/namespaces/$ns/serviceaccounts/robot?fieldManager=one',
      type: 'application/apply-patch+yaml',
      body: {
        apiVersion: 'v1',
        kind: 'ServiceAccount',
        metadata: {
          name: 'robot',
          managedFields: [{manager: 'x', operation: 'Apply', apiVersion: 'v1'}],
        },
      },
      answer: failure(400, 'BadRequest', 'metadata.managedFields must be nil'),
    },
    {
      says: 'refuses a manager with too long a name',
      ask: 'PATCH /api/v1/namespaces/$ns/serviceaccounts/robot?fieldManager=mmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmm',
      type: 'application/apply-patch+yaml',
      body: {apiVersion: 'v1', kind: 'ServiceAccount', metadata: {name: 'robot'}},
      answer: invalid('PatchOptions.meta.k8s.io', '', [
        'fieldManager',
        'FieldValueTooLong',
        'Too long: may not be more than 128 bytes',
      ]),
    },
    {
      says: 'refuses a field that it does not know',
      ask: 'PATCH /api/v1/namespaces/$ns/serviceaccounts/robot?fieldManager=one',
      type: 'application/apply-patch+yaml',
      body: {apiVersion: 'v1', kind: 'ServiceAccount', metadata: {name: 'robot'}, nonsense: 1},
      answer: {
        code: 500,
        body: {
          kind: 'Status',
          apiVersion: 'v1',
          metadata: {},
          status: 'Failure',
          message:
            'failed to create typed patch object (/robot; /v1, Kind=ServiceAccount): .nonsense: field not declared in schema',
          code: 500,
        },
      },
    },
    {
      says: 'tries an apply',
      part: 'metadata.labels',
      ask: 'PATCH /api/v1/namespaces/$ns/serviceaccounts/robot?fieldManager=two&dryRun=All',
      type: 'application/apply-patch+yaml',
      body: {
        apiVersion: 'v1',
        kind: 'ServiceAccount',
        metadata: {name: 'robot', labels: {dry: 'run'}},
      },
      answer: {code: 200, body: {dry: 'run'}},
    },
    {
      says: 'applies rules as one',
      part: 'metadata.managedFields',
      ask: 'PATCH /apis/rbac.authorization.k8s.io/v1/namespaces/$ns/roles/r?fieldManager=one',
      type: 'application/apply-patch+yaml',
      body: {
        apiVersion: 'rbac.authorization.k8s.io/v1',
        kind: 'Role',
        metadata: {name: 'r'},
        rules: [{apiGroups: [''], resources: ['pods'], verbs: ['get']}],
      },
      owners: true,
      answer: {
        code: 201,
        body: [
          {
            manager: 'one',
            operation: 'Apply',
            apiVersion: 'rbac.authorization.k8s.io/v1',
            time: 'TIME',
            fieldsType: 'FieldsV1',
            fieldsV1: {'f:rules': {}},
          },
        ],
      },
    },
    {
      says: 'refuses other rules of another',
      ask: 'PATCH /apis/rbac.authorization.k8s.io/v1/namespaces/$ns/roles/r?fieldManager=two',
      type: 'application/apply-patch+yaml',
      body: {
        apiVersion: 'rbac.authorization.k8s.io/v1',
        kind: 'Role',
        metadata: {name: 'r'},
        rules: [{apiGroups: [''], resources: ['nodes'], verbs: ['get']}],
      },
      answer: failure(
        409,
        'Conflict',
        'Apply failed with 1 conflict: conflict with "one": .rules',
        {
          causes: [
            {reason: 'FieldManagerConflict', message: 'conflict with "one"', field: '.rules'},
          ],
        },
      ),
    },
    {
      says: 'gives up everything',
      ask: 'PATCH /apis/rbac.authorization.k8s.io/v1/namespaces/$ns/roles/r?fieldManager=one',
      type: 'application/apply-patch+yaml',
      body: {apiVersion: 'rbac.authorization.k8s.io/v1', kind: 'Role', metadata: {name: 'r'}},
      owners: true,
      answer: {
        code: 200,
        body: {
          kind: 'Role',
          apiVersion: 'rbac.authorization.k8s.io/v1',
          metadata: stored('r'),
          rules: null,
        },
      },
    },
    {
      says: 'applies a status at its own endpoint',
      part: 'metadata.managedFields',
      ask: 'POST /apis/machine.openshift.io/v1beta1/namespaces/$ns/machines',
      body: {
        apiVersion: 'machine.openshift.io/v1beta1',
        kind: 'Machine',
        metadata: {name: 'm'},
        spec: {providerID: 'a'},
      },
      owners: true,
      answer: {
        code: 201,
        body: [
          {
            manager: 'transcript',
            operation: 'Update',
            apiVersion: 'machine.openshift.io/v1beta1',
            time: 'TIME',
            fieldsType: 'FieldsV1',
            fieldsV1: {'f:spec': {'.': {}, 'f:providerID': {}}},
          },
        ],
      },
    },
    {
      says: 'owns the status apart',
      part: 'metadata.managedFields',
      ask: 'PATCH /apis/machine.openshift.io/v1beta1/namespaces/$ns/machines/m/status?fieldManager=watcher',
      type: 'application/apply-patch+yaml',
      body: {
        apiVersion: 'machine.openshift.io/v1beta1',
        kind: 'Machine',
        metadata: {name: 'm'},
        status: {phase: 'Running'},
      },
      owners: true,
      answer: {
        code: 200,
        body: [
          {
            manager: 'transcript',
            operation: 'Update',
            apiVersion: 'machine.openshift.io/v1beta1',
            time: 'TIME',
            fieldsType: 'FieldsV1',
            fieldsV1: {'f:spec': {'.': {}, 'f:providerID': {}}},
          },
          {
            manager: 'watcher',
            operation: 'Apply',
            apiVersion: 'machine.openshift.io/v1beta1',
            time: 'TIME',
            fieldsType: 'FieldsV1',
            fieldsV1: {'f:status': {'f:phase': {}}},
            subresource: 'status',
          },
        ],
      },
    },
    {
      says: 'forgets all owners where told to',
      ask: 'PATCH /api/v1/namespaces/$ns/serviceaccounts/robot',
      type: 'application/merge-patch+json',
      body: {metadata: {managedFields: [{}]}},
      owners: true,
      answer: {
        code: 200,
        body: {
          kind: 'ServiceAccount',
          apiVersion: 'v1',
          metadata: stored('robot'),
          imagePullSecrets: [{name: 'a'}],
        },
      },
    },
  ],
}
