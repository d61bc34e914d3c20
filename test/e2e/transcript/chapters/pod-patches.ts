import {invalid, type Chapter} from '../step.ts'

export const podPatches: Chapter = {
  name: 'patches of pods',
  steps: [
    {
      says: 'starts with a Pod',
      part: 'metadata.name',
      ask: 'POST /api/v1/namespaces/$ns/pods',
      body: {
        metadata: {name: 'p'},
        spec: {
          automountServiceAccountToken: false,
          containers: [
            {name: 'a', image: 'example.test/a:1'},
            {name: 'b', image: 'example.test/b:1'},
          ],
          tolerations: [{key: 'k', operator: 'Exists'}],
        },
      },
      answer: {code: 201, body: 'p'},
    },
    {
      says: 'merges containers by name',
      part: 'spec.containers',
      ask: 'PATCH /api/v1/namespaces/$ns/pods/p',
      type: 'application/strategic-merge-patch+json',
      body: {
        spec: {
          containers: [{name: 'b', image: 'example.test/b:2'}],
          '$setElementOrder/containers': [{name: 'a'}, {name: 'b'}],
        },
      },
      answer: {
        code: 200,
        body: [
          {
            name: 'a',
            image: 'example.test/a:1',
            resources: {},
            terminationMessagePath: '/dev/termination-log',
            terminationMessagePolicy: 'File',
            imagePullPolicy: 'IfNotPresent',
          },
          {
            name: 'b',
            image: 'example.test/b:2',
            resources: {},
            terminationMessagePath: '/dev/termination-log',
            terminationMessagePolicy: 'File',
            imagePullPolicy: 'IfNotPresent',
          },
        ],
      },
    },
    {
      says: 'refuses to remove a container',
      ask: 'PATCH /api/v1/namespaces/$ns/pods/p',
      type: 'application/strategic-merge-patch+json',
      body: {spec: {containers: [{name: 'b', $patch: 'delete'}]}},
      answer: invalid('Pod', 'p', [
        'spec.containers',
        'FieldValueForbidden',
        'Forbidden: pod updates may not add or remove containers',
      ]),
    },
    {
      says: 'refuses a container without its name',
      ask: 'PATCH /api/v1/namespaces/$ns/pods/p',
      type: 'application/strategic-merge-patch+json',
      body: {spec: {containers: [{image: 'example.test/c'}]}},
      answer: {
        code: 500,
        body: {
          kind: 'Status',
          apiVersion: 'v1',
          metadata: {},
          status: 'Failure',
          message: 'map: map[image:example.test/c] does not contain declared merge key: name',
          code: 500,
        },
      },
    },
    {
      says: 'keeps the status at its main endpoint',
      part: 'status',
      ask: 'PATCH /api/v1/namespaces/$ns/pods/p',
      type: 'application/merge-patch+json',
      body: {metadata: {labels: {seen: 'yes'}}, status: {phase: 'Failed'}},
      answer: {code: 200, body: {phase: 'Pending', qosClass: 'BestEffort'}},
    },
    {
      says: 'changes the status at its own',
      part: 'status',
      ask: 'PATCH /api/v1/namespaces/$ns/pods/p/status',
      type: 'application/strategic-merge-patch+json',
      body: {
        spec: {nodeName: 'elsewhere'},
        status: {
          phase: 'Running',
          conditions: [{type: 'Ready', status: 'True'}],
          podIP: '192.0.2.9',
          podIPs: [{ip: '192.0.2.9'}],
        },
      },
      answer: {
        code: 200,
        body: {
          phase: 'Running',
          conditions: [
            {type: 'Ready', status: 'True', lastProbeTime: null, lastTransitionTime: null},
          ],
          podIP: '192.0.2.9',
          podIPs: [{ip: '192.0.2.9'}],
          qosClass: 'BestEffort',
        },
      },
    },
  ],
}
