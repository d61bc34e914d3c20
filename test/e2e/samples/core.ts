import type {Sample} from './sample.ts'

const LABELS = {suite: 'samples'}

const configuration = (): Sample[] => [
  {
    plural: 'configmaps',
    said: 'configmap',
    manifest: {
      apiVersion: 'v1',
      kind: 'ConfigMap',
      metadata: {name: 'settings', labels: LABELS},
      data: {colour: 'green', size: '4'},
    },
    wide: {header: 'NAME DATA AGE', row: 'settings 2 AGE'},
    describes: ['Name: settings', 'Labels: suite=samples', 'colour:', 'green'],
    patch: {
      type: 'strategic',
      body: {data: {size: null, shape: 'round'}},
      path: '{.data}',
      shows: '{"colour":"green","shape":"round"}',
    },
  },
  {
    plural: 'secrets',
    said: 'secret',
    manifest: {
      apiVersion: 'v1',
      kind: 'Secret',
      metadata: {name: 'key', labels: LABELS},
      type: 'example.test/key',
      stringData: {word: 'open sesame'},
    },
    wide: {header: 'NAME TYPE DATA AGE', row: 'key example.test/key 1 AGE'},
    describes: ['Name: key', 'Type: example.test/key', 'word: 11 bytes'],
    patch: {
      type: 'strategic',
      body: {stringData: {word: 'ajar'}},
      path: '{.data.word}',
      shows: Buffer.from('ajar').toString('base64'),
    },
  },
  {
    plural: 'serviceaccounts',
    said: 'serviceaccount',
    manifest: {
      apiVersion: 'v1',
      kind: 'ServiceAccount',
      metadata: {name: 'robot', labels: LABELS},
      imagePullSecrets: [{name: 'registry'}],
    },
    // "Secrets" is a column only of kubectl's own tables.
    wide: {header: 'NAME AGE', row: 'robot AGE'},
    describes: ['Name: robot', 'Image pull secrets: registry'],
    patch: {
      type: 'strategic',
      body: {automountServiceAccountToken: false},
      path: '{.automountServiceAccountToken}',
      shows: 'false',
    },
  },
]

const workload = (): Sample[] => [
  {
    plural: 'pods',
    said: 'pod',
    manifest: {
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: {name: 'web', labels: LABELS},
      spec: {
        containers: [
          {name: 'main', image: 'example.test/web:1', ports: [{containerPort: 80}]},
          {name: 'side', image: 'example.test/side:1'},
        ],
      },
    },
    wide: {
      header: 'NAME READY STATUS RESTARTS AGE IP NODE NOMINATED NODE READINESS GATES',
      row: 'web 0/2 Pending 0 AGE <none> <none> <none> <none>',
    },
    describes: [
      'Name: web',
      'Status: Pending',
      'Image: example.test/side:1',
      'QoS Class: BestEffort',
    ],
    patch: {
      type: 'strategic',
      body: {spec: {containers: [{name: 'side', image: 'example.test/side:2'}]}},
      path: '{.spec.containers[*].image}',
      shows: 'example.test/web:1 example.test/side:2',
    },
  },
  {
    plural: 'services',
    said: 'service',
    manifest: {
      apiVersion: 'v1',
      kind: 'Service',
      metadata: {name: 'front', labels: LABELS},
      spec: {clusterIP: 'None', selector: {app: 'web'}, ports: [{name: 'http', port: 80}]},
    },
    wide: {
      header: 'NAME TYPE CLUSTER-IP EXTERNAL-IP PORT(S) AGE SELECTOR',
      row: 'front ClusterIP None <none> 80/TCP AGE app=web',
    },
    describes: ['Name: front', 'Selector: app=web', 'Port: http 80/TCP', 'Session Affinity: None'],
    patch: {
      type: 'strategic',
      body: {spec: {ports: [{name: 'https', port: 443}]}},
      path: '{.spec.ports[*].port}',
      shows: '443 80',
    },
  },
  {
    plural: 'persistentvolumeclaims',
    said: 'persistentvolumeclaim',
    manifest: {
      apiVersion: 'v1',
      kind: 'PersistentVolumeClaim',
      metadata: {name: 'claim', labels: LABELS},
      spec: {
        accessModes: ['ReadWriteOnce'],
        storageClassName: 'slow',
        resources: {requests: {storage: '1Gi'}},
      },
    },
    wide: {
      header:
        'NAME STATUS VOLUME CAPACITY ACCESS MODES STORAGECLASS VOLUMEATTRIBUTESCLASS AGE VOLUMEMODE',
      row: 'claim Pending slow <unset> AGE Filesystem',
    },
    describes: ['Name: claim', 'StorageClass: slow', 'Status: Pending', 'Used By: <none>'],
    patch: {
      type: 'strategic',
      body: {spec: {volumeName: 'volume-7'}},
      path: '{.spec.volumeName}',
      shows: 'volume-7',
    },
  },
  {
    plural: 'events',
    said: 'event',
    manifest: {
      apiVersion: 'v1',
      kind: 'Event',
      metadata: {name: 'web.started', labels: LABELS},
      involvedObject: {apiVersion: 'v1', kind: 'Pod', name: 'web'},
      type: 'Normal',
      reason: 'Started',
      message: 'it runs',
      source: {component: 'robot', host: 'n1'},
      count: 3,
      firstTimestamp: '2026-01-01T00:00:00Z',
      lastTimestamp: '2026-01-01T00:05:00Z',
    },
    wide: {
      header: 'LAST SEEN TYPE REASON OBJECT SUBOBJECT SOURCE MESSAGE FIRST SEEN COUNT NAME',
      row: 'AGE Normal Started pod/web robot, n1 it runs AGE 3 web.started',
    },
    describes: ['Name: web.started', 'Reason: Started', 'Message: it runs'],
    patch: {type: 'strategic', body: {count: 4}, path: '{.count}', shows: '4'},
  },
]

/** Objects of the core group that live in a namespace. */
export const coreSamples = (namespace: string): Sample[] => {
  const samples = [...configuration(), ...workload()]
  for (const {manifest} of samples) {
    if (manifest.kind === 'Event') Object.assign(manifest.involvedObject as object, {namespace})
  }
  return samples
}
