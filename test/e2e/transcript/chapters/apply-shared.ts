import {failure, type Chapter} from '../step.ts'

export const applyShared: Chapter = {
  name: 'an object that several apply',
  steps: [
    {
      says: 'creates by applying',
      part: 'metadata.managedFields',
      owners: true,
      ask: 'PATCH /api/v1/namespaces/$ns/services/web?fieldManager=one',
      type: 'application/apply-patch+yaml',
      body: {
        apiVersion: 'v1',
        kind: 'Service',
        metadata: {name: 'web'},
        spec: {
          clusterIP: 'None',
          selector: {app: 'web'},
          ports: [{name: 'http', port: 80, protocol: 'TCP'}],
        },
      },
      answer: {
        code: 201,
        body: [
          {
            manager: 'one',
            operation: 'Apply',
            apiVersion: 'v1',
            time: 'TIME',
            fieldsType: 'FieldsV1',
            fieldsV1: {
              'f:spec': {
                'f:clusterIP': {},
                'f:ports': {
                  'k:{"port":80,"protocol":"TCP"}': {
                    '.': {},
                    'f:name': {},
                    'f:port': {},
                    'f:protocol': {},
                  },
                },
                'f:selector': {},
              },
            },
          },
        ],
      },
    },
    {
      says: 'lets a second one own another port of the same list',
      part: 'metadata.managedFields',
      owners: true,
      ask: 'PATCH /api/v1/namespaces/$ns/services/web?fieldManager=two',
      type: 'application/apply-patch+yaml',
      body: {
        apiVersion: 'v1',
        kind: 'Service',
        metadata: {name: 'web'},
        spec: {ports: [{name: 'https', port: 443, protocol: 'TCP'}]},
      },
      answer: {
        code: 200,
        body: [
          {
            manager: 'one',
            operation: 'Apply',
            apiVersion: 'v1',
            time: 'TIME',
            fieldsType: 'FieldsV1',
            fieldsV1: {
              'f:spec': {
                'f:clusterIP': {},
                'f:ports': {
                  'k:{"port":80,"protocol":"TCP"}': {
                    '.': {},
                    'f:name': {},
                    'f:port': {},
                    'f:protocol': {},
                  },
                },
                'f:selector': {},
              },
            },
          },
          {
            manager: 'two',
            operation: 'Apply',
            apiVersion: 'v1',
            time: 'TIME',
            fieldsType: 'FieldsV1',
            fieldsV1: {
              'f:spec': {
                'f:ports': {
                  'k:{"port":443,"protocol":"TCP"}': {
                    '.': {},
                    'f:name': {},
                    'f:port': {},
                    'f:protocol': {},
                  },
                },
              },
            },
          },
        ],
      },
    },
    {
      says: 'refuses a third one who wants another name for a port',
      ask: 'PATCH /api/v1/namespaces/$ns/services/web?fieldManager=three',
      type: 'application/apply-patch+yaml',
      body: {
        apiVersion: 'v1',
        kind: 'Service',
        metadata: {name: 'web'},
        spec: {ports: [{name: 'secure', port: 443, protocol: 'TCP'}], selector: {app: 'other'}},
      },
      answer: failure(
        409,
        'Conflict',
        'Apply failed with 2 conflicts: conflicts with "one":\n- .spec.selector\nconflicts with "two":\n- .spec.ports[port=443,protocol="TCP"].name',
        {
          causes: [
            {
              reason: 'FieldManagerConflict',
              message: 'conflict with "one"',
              field: '.spec.selector',
            },
            {
              reason: 'FieldManagerConflict',
              message: 'conflict with "two"',
              field: '.spec.ports[port=443,protocol="TCP"].name',
            },
          ],
        },
      ),
    },
    {
      says: 'shares what two want alike',
      part: 'metadata.managedFields',
      owners: true,
      ask: 'PATCH /api/v1/namespaces/$ns/services/web?fieldManager=three',
      type: 'application/apply-patch+yaml',
      body: {
        apiVersion: 'v1',
        kind: 'Service',
        metadata: {name: 'web'},
        spec: {selector: {app: 'web'}},
      },
      answer: {
        code: 200,
        body: [
          {
            manager: 'one',
            operation: 'Apply',
            apiVersion: 'v1',
            time: 'TIME',
            fieldsType: 'FieldsV1',
            fieldsV1: {
              'f:spec': {
                'f:clusterIP': {},
                'f:ports': {
                  'k:{"port":80,"protocol":"TCP"}': {
                    '.': {},
                    'f:name': {},
                    'f:port': {},
                    'f:protocol': {},
                  },
                },
                'f:selector': {},
              },
            },
          },
          {
            manager: 'three',
            operation: 'Apply',
            apiVersion: 'v1',
            time: 'TIME',
            fieldsType: 'FieldsV1',
            fieldsV1: {'f:spec': {'f:selector': {}}},
          },
          {
            manager: 'two',
            operation: 'Apply',
            apiVersion: 'v1',
            time: 'TIME',
            fieldsType: 'FieldsV1',
            fieldsV1: {
              'f:spec': {
                'f:ports': {
                  'k:{"port":443,"protocol":"TCP"}': {
                    '.': {},
                    'f:name': {},
                    'f:port': {},
                    'f:protocol': {},
                  },
                },
              },
            },
          },
        ],
      },
    },
    {
      says: 'keeps what another still wants',
      part: 'spec.selector',
      ask: 'PATCH /api/v1/namespaces/$ns/services/web?fieldManager=one',
      type: 'application/apply-patch+yaml',
      body: {
        apiVersion: 'v1',
        kind: 'Service',
        metadata: {name: 'web'},
        spec: {clusterIP: 'None', ports: [{name: 'http', port: 80, protocol: 'TCP'}]},
      },
      answer: {code: 200, body: {app: 'web'}},
    },
    {
      says: 'removes what nobody wants any more',
      part: 'spec.ports',
      ask: 'PATCH /api/v1/namespaces/$ns/services/web?fieldManager=two',
      type: 'application/apply-patch+yaml',
      body: {apiVersion: 'v1', kind: 'Service', metadata: {name: 'web'}, spec: {}},
      answer: {code: 200, body: [{name: 'http', protocol: 'TCP', port: 80, targetPort: 80}]},
    },
    {
      says: 'tracks an update as its own manager',
      part: 'metadata.managedFields',
      owners: true,
      ask: 'PATCH /api/v1/namespaces/$ns/services/web?fieldManager=hand',
      type: 'application/merge-patch+json',
      body: {metadata: {labels: {tier: 'front'}}},
      answer: {
        code: 200,
        body: [
          {
            manager: 'hand',
            operation: 'Update',
            apiVersion: 'v1',
            time: 'TIME',
            fieldsType: 'FieldsV1',
            fieldsV1: {'f:metadata': {'f:labels': {'.': {}, 'f:tier': {}}}},
          },
          {
            manager: 'one',
            operation: 'Apply',
            apiVersion: 'v1',
            time: 'TIME',
            fieldsType: 'FieldsV1',
            fieldsV1: {
              'f:spec': {
                'f:clusterIP': {},
                'f:ports': {
                  'k:{"port":80,"protocol":"TCP"}': {
                    '.': {},
                    'f:name': {},
                    'f:port': {},
                    'f:protocol': {},
                  },
                },
              },
            },
          },
          {
            manager: 'three',
            operation: 'Apply',
            apiVersion: 'v1',
            time: 'TIME',
            fieldsType: 'FieldsV1',
            fieldsV1: {'f:spec': {'f:selector': {}}},
          },
          {
            manager: 'two',
            operation: 'Apply',
            apiVersion: 'v1',
            time: 'TIME',
            fieldsType: 'FieldsV1',
            fieldsV1: {'f:spec': {}},
          },
        ],
      },
    },
    {
      says: 'names the update that a field came by',
      ask: 'PATCH /api/v1/namespaces/$ns/services/web?fieldManager=one',
      type: 'application/apply-patch+yaml',
      body: {
        apiVersion: 'v1',
        kind: 'Service',
        metadata: {name: 'web', labels: {tier: 'back'}},
        spec: {clusterIP: 'None', ports: [{name: 'http', port: 80, protocol: 'TCP'}]},
      },
      answer: failure(
        409,
        'Conflict',
        'Apply failed with 1 conflict: conflict with "hand" using v1: .metadata.labels.tier',
        {
          causes: [
            {
              reason: 'FieldManagerConflict',
              message: 'conflict with "hand" using v1',
              field: '.metadata.labels.tier',
            },
          ],
        },
      ),
    },
    {
      says: 'takes over by force',
      part: 'metadata.labels',
      ask: 'PATCH /api/v1/namespaces/$ns/services/web?fieldManager=one&force=true',
      type: 'application/apply-patch+yaml',
      body: {
        apiVersion: 'v1',
        kind: 'Service',
        metadata: {name: 'web', labels: {tier: 'back'}},
        spec: {clusterIP: 'None', ports: [{name: 'http', port: 80, protocol: 'TCP'}]},
      },
      answer: {code: 200, body: {tier: 'back'}},
    },
  ],
}
