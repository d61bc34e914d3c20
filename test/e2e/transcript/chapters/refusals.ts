import {failure, invalid, stored, type Chapter} from '../step.ts'

export const refusals: Chapter = {
  name: 'refused objects',
  steps: [
    {
      says: 'writes amounts in their shortest form',
      ask: 'POST /api/v1/namespaces/$ns/persistentvolumeclaims',
      body: {
        metadata: {name: 'claim'},
        spec: {accessModes: ['ReadWriteMany'], resources: {requests: {storage: '2048Mi'}}},
      },
      answer: {
        code: 201,
        body: {
          kind: 'PersistentVolumeClaim',
          apiVersion: 'v1',
          metadata: stored('claim'),
          spec: {
            accessModes: ['ReadWriteMany'],
            resources: {requests: {storage: '2Gi'}},
            volumeMode: 'Filesystem',
          },
          status: {phase: 'Pending'},
        },
      },
    },
    {
      says: 'refuses an amount that is none',
      ask: 'POST /api/v1/namespaces/$ns/persistentvolumeclaims',
      body: {
        metadata: {name: 'wrong'},
        spec: {accessModes: ['ReadWriteMany'], resources: {requests: {storage: 'a lot'}}},
      },
      answer: failure(
        400,
        'BadRequest',
        `PersistentVolumeClaim in version "v1" cannot be handled as a PersistentVolumeClaim: quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'`,
      ),
    },
    {
      says: 'refuses a service without ports',
      ask: 'POST /api/v1/namespaces/$ns/services',
      body: {metadata: {name: 'web'}, spec: {}},
      answer: invalid('Service', 'web', ['spec.ports', 'FieldValueRequired', 'Required value']),
    },
    {
      says: 'refuses wrong and repeated ports',
      ask: 'POST /api/v1/namespaces/$ns/services',
      body: {
        metadata: {name: 'web'},
        spec: {
          ports: [
            {name: 'a', port: 80},
            {name: 'a', port: 70000},
          ],
        },
      },
      answer: invalid(
        'Service',
        'web',
        ['spec.ports[1].name', 'FieldValueDuplicate', 'Duplicate value: "a"'],
        [
          'spec.ports[1].port',
          'FieldValueInvalid',
          'Invalid value: 70000: must be between 1 and 65535, inclusive',
        ],
        [
          'spec.ports[1].targetPort',
          'FieldValueInvalid',
          'Invalid value: 70000: must be between 1 and 65535, inclusive',
        ],
      ),
    },
    {
      says: 'refuses an event of another namespace',
      ask: 'POST /api/v1/namespaces/$ns/events',
      body: {
        metadata: {name: 'e'},
        involvedObject: {kind: 'Pod', name: 'p', namespace: 'elsewhere'},
      },
      answer: invalid('Event', 'e', [
        'involvedObject.namespace',
        'FieldValueInvalid',
        'Invalid value: "elsewhere": does not match event.namespace',
      ]),
    },
    {
      says: 'refuses a pod without containers',
      ask: 'POST /api/v1/namespaces/$ns/pods',
      body: {metadata: {name: 'p'}, spec: {containers: []}},
      answer: invalid('Pod', 'p', ['spec.containers', 'FieldValueRequired', 'Required value']),
    },
    {
      says: 'refuses a pod of an account that is not there',
      ask: 'POST /api/v1/namespaces/$ns/pods',
      body: {
        metadata: {name: 'p'},
        spec: {serviceAccountName: 'nobody', containers: [{name: 'c', image: 'example.test/c'}]},
      },
      answer: failure(
        403,
        'Forbidden',
        'pods "p" is forbidden: error looking up service account $ns/nobody: serviceaccount "nobody" not found',
        {name: 'p', kind: 'pods'},
      ),
    },
    {
      says: 'refuses a runtime class without a handler',
      ask: 'POST /apis/node.k8s.io/v1/runtimeclasses',
      body: {metadata: {name: '$ns'}},
      answer: invalid('RuntimeClass.node.k8s.io', '$ns', [
        'handler',
        'FieldValueRequired',
        'Required value',
      ]),
    },
    {
      says: 'refuses a lease of no length',
      ask: 'POST /apis/coordination.k8s.io/v1/namespaces/$ns/leases',
      body: {metadata: {name: 'l'}, spec: {leaseDurationSeconds: 0, leaseTransitions: -1}},
      answer: invalid(
        'Lease.coordination.k8s.io',
        'l',
        [
          'spec.leaseDurationSeconds',
          'FieldValueInvalid',
          'Invalid value: 0: must be greater than 0',
        ],
        [
          'spec.leaseTransitions',
          'FieldValueInvalid',
          'Invalid value: -1: must be greater than or equal to 0',
        ],
      ),
    },
    {
      says: 'refuses labels and annotations that are none',
      ask: 'POST /api/v1/namespaces/$ns/configmaps',
      body: {metadata: {name: 'x', labels: {'a b': 'c'}, annotations: {'/x': 'y'}}},
      answer: invalid(
        'ConfigMap',
        'x',
        [
          'metadata.labels',
          'FieldValueInvalid',
          `Invalid value: "a b": name part must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')`,
        ],
        [
          'metadata.annotations',
          'FieldValueInvalid',
          'Invalid value: "/x": prefix part must be non-empty',
        ],
      ),
    },
    {
      says: 'refuses a key that no file could have',
      ask: 'POST /api/v1/namespaces/$ns/configmaps',
      body: {metadata: {name: 'x'}, data: {'a/b': 'c'}},
      answer: invalid('ConfigMap', 'x', [
        'data[a/b]',
        'FieldValueInvalid',
        `Invalid value: "a/b": a valid config key must consist of alphanumeric characters, '-', '_' or '.' (e.g. 'key.name',  or 'KEY_NAME',  or 'key-name', regex used for validation is '[-._a-zA-Z0-9]+')`,
      ]),
    },
  ],
}
