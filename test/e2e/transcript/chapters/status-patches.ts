import {deleted, failure, invalid, type Chapter} from '../step.ts'

export const statusPatches: Chapter = {
  name: 'patches of a status',
  steps: [
    {
      says: 'starts with a Node',
      part: 'metadata.name',
      ask: 'POST /api/v1/nodes',
      body: {
        metadata: {name: '$ns-n'},
        status: {
          addresses: [
            {type: 'InternalIP', address: '192.0.2.1'},
            {type: 'Hostname', address: 'n'},
          ],
          conditions: [
            {type: 'Ready', status: 'Unknown'},
            {type: 'DiskPressure', status: 'False'},
          ],
        },
      },
      answer: {code: 201, body: '$ns-n'},
    },
    {
      says: 'merges conditions by their type, and replaces addresses where told to',
      part: 'status',
      ask: 'PATCH /api/v1/nodes/$ns-n/status',
      type: 'application/strategic-merge-patch+json',
      body: {
        status: {
          addresses: [{type: 'InternalIP', address: '192.0.2.2'}, {$patch: 'replace'}],
          conditions: [{type: 'DiskPressure', status: 'True'}],
        },
      },
      answer: {
        code: 200,
        body: {
          conditions: [
            {type: 'Ready', status: 'Unknown', lastHeartbeatTime: null, lastTransitionTime: null},
            {
              type: 'DiskPressure',
              status: 'True',
              lastHeartbeatTime: null,
              lastTransitionTime: null,
            },
          ],
          addresses: [{type: 'InternalIP', address: '192.0.2.2'}],
          daemonEndpoints: {kubeletEndpoint: {Port: 0}},
          nodeInfo: {
            machineID: '',
            systemUUID: '',
            bootID: '',
            kernelVersion: '',
            osImage: '',
            containerRuntimeVersion: '',
            kubeletVersion: '',
            kubeProxyVersion: '',
            operatingSystem: '',
            architecture: '',
          },
        },
      },
    },
    {
      says: 'replaces taints as a whole',
      part: 'spec.taints',
      ask: 'PATCH /api/v1/nodes/$ns-n',
      type: 'application/strategic-merge-patch+json',
      body: {
        spec: {
          taints: [
            {key: 'a', effect: 'NoSchedule'},
            {key: 'b', effect: 'NoExecute'},
          ],
        },
      },
      answer: {
        code: 200,
        body: [
          {key: 'a', effect: 'NoSchedule'},
          {key: 'b', effect: 'NoExecute'},
        ],
      },
    },
    {
      says: 'refuses taints that are none',
      ask: 'PATCH /api/v1/nodes/$ns-n',
      type: 'application/strategic-merge-patch+json',
      body: {spec: {taints: [{key: 'a', effect: 'Never'}]}},
      answer: invalid('Node', '$ns-n', [
        'spec.taints[0].effect',
        'FieldValueNotSupported',
        'Unsupported value: "Never": supported values: "NoSchedule", "PreferNoSchedule", "NoExecute"',
      ]),
    },
    {
      says: 'deletes the Node',
      ask: 'DELETE /api/v1/nodes/$ns-n',
      answer: deleted('nodes', '$ns-n'),
    },
    {
      says: 'starts with a Machine',
      part: 'metadata.name',
      ask: 'POST /apis/machine.openshift.io/v1beta1/namespaces/$ns/machines',
      body: {
        apiVersion: 'machine.openshift.io/v1beta1',
        kind: 'Machine',
        metadata: {name: 'm'},
        spec: {providerID: 'a'},
        status: {phase: 'Running'},
      },
      answer: {code: 201, body: 'm'},
    },
    {
      says: 'merges no strategies for a custom kind',
      ask: 'PATCH /apis/machine.openshift.io/v1beta1/namespaces/$ns/machines/m',
      type: 'application/strategic-merge-patch+json',
      body: {spec: {providerID: 'b'}},
      answer: failure(
        415,
        'UnsupportedMediaType',
        'the body of the request was in an unknown format - accepted media types include: application/json-patch+json, application/merge-patch+json, application/apply-patch+yaml',
      ),
    },
    {
      says: 'counts the changes of its spec',
      part: 'metadata.generation',
      ask: 'PATCH /apis/machine.openshift.io/v1beta1/namespaces/$ns/machines/m',
      type: 'application/merge-patch+json',
      body: {spec: {providerID: 'b'}},
      answer: {code: 200, body: 2},
    },
    {
      says: 'does not count changes of its status',
      part: 'metadata.generation',
      ask: 'PATCH /apis/machine.openshift.io/v1beta1/namespaces/$ns/machines/m/status',
      type: 'application/merge-patch+json',
      body: {status: {phase: 'Running', nodeRef: {name: 'n'}}},
      answer: {code: 200, body: 2},
    },
  ],
}
