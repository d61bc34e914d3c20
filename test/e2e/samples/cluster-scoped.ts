import type {Sample} from './sample.ts'

const LABELS = {suite: 'samples'}

/** Objects of the core, storage and node groups that live in no namespace. */
export const clusterSamples = (prefix: string): Sample[] => [
  {
    plural: 'namespaces',
    said: 'namespace',
    manifest: {
      apiVersion: 'v1',
      kind: 'Namespace',
      metadata: {name: `${prefix}-other`, labels: LABELS},
    },
    wide: {header: 'NAME STATUS AGE', row: `${prefix}-other Active AGE`},
    describes: [
      `Name: ${prefix}-other`,
      `Labels: kubernetes.io/metadata.name=${prefix}-other`,
      'Status: Active',
    ],
    patch: {
      type: 'strategic',
      body: {metadata: {annotations: {owner: 'us'}}},
      path: '{.metadata.annotations.owner}',
      shows: 'us',
    },
  },
  {
    plural: 'nodes',
    said: 'node',
    manifest: {
      apiVersion: 'v1',
      kind: 'Node',
      metadata: {
        name: `${prefix}-node`,
        labels: {...LABELS, 'node-role.kubernetes.io/worker': ''},
      },
      spec: {podCIDR: '10.244.7.0/24'},
      status: {
        addresses: [{type: 'InternalIP', address: '192.0.2.17'}],
        conditions: [{type: 'Ready', status: 'True', reason: 'KubeletReady', message: 'up'}],
        nodeInfo: {
          machineID: 'm',
          systemUUID: 's',
          bootID: 'b',
          operatingSystem: 'linux',
          kubeProxyVersion: '',
          kubeletVersion: 'v1.36.4',
          osImage: 'Example Linux 7',
          kernelVersion: '6.1.0',
          architecture: 'amd64',
          containerRuntimeVersion: 'containerd://2.0.1',
        },
      },
    },
    wide: {
      header:
        'NAME STATUS ROLES AGE VERSION INTERNAL-IP EXTERNAL-IP OS-IMAGE KERNEL-VERSION CONTAINER-RUNTIME',
      row: `${prefix}-node Ready worker AGE v1.36.4 192.0.2.17 <none> Example Linux 7 6.1.0 (amd64) containerd://2.0.1`,
    },
    describes: [
      `Name: ${prefix}-node`,
      'Roles: worker',
      'InternalIP: 192.0.2.17',
      'PodCIDR: 10.244.7.0/24',
      'Kubelet Version: v1.36.4',
    ],
    patch: {
      type: 'strategic',
      body: {spec: {taints: [{key: 'example.test/gpu', effect: 'NoExecute'}]}},
      path: '{.spec.taints[*].key}',
      shows: 'example.test/gpu',
    },
  },
  {
    plural: 'persistentvolumes',
    said: 'persistentvolume',
    manifest: {
      apiVersion: 'v1',
      kind: 'PersistentVolume',
      metadata: {name: `${prefix}-volume`, labels: LABELS},
      spec: {
        capacity: {storage: '5Gi'},
        accessModes: ['ReadWriteOnce', 'ReadOnlyMany'],
        storageClassName: 'slow',
        hostPath: {path: '/data'},
      },
    },
    wide: {
      header:
        'NAME CAPACITY ACCESS MODES RECLAIM POLICY STATUS CLAIM STORAGECLASS VOLUMEATTRIBUTESCLASS REASON AGE VOLUMEMODE',
      row: `${prefix}-volume 5Gi RWO,ROX Retain Pending slow <unset> AGE Filesystem`,
    },
    describes: [`Name: ${prefix}-volume`, 'Reclaim Policy: Retain', 'Capacity: 5Gi', 'Path: /data'],
    patch: {
      type: 'strategic',
      body: {spec: {persistentVolumeReclaimPolicy: 'Delete'}},
      path: '{.spec.persistentVolumeReclaimPolicy}',
      shows: 'Delete',
    },
  },
  {
    plural: 'csinodes',
    said: 'csinode.storage.k8s.io',
    manifest: {
      apiVersion: 'storage.k8s.io/v1',
      kind: 'CSINode',
      metadata: {name: `${prefix}-csinode`, labels: LABELS},
      spec: {drivers: [{name: 'disk.example.test', nodeID: 'n1', topologyKeys: ['zone']}]},
    },
    wide: {header: 'NAME DRIVERS AGE', row: `${prefix}-csinode 1 AGE`},
    describes: [`Name: ${prefix}-csinode`, 'disk.example.test:', 'Node ID: n1'],
    patch: {
      type: 'strategic',
      body: {spec: {drivers: [{name: 'net.example.test', nodeID: 'n1', topologyKeys: ['zone']}]}},
      path: '{.spec.drivers[*].name}',
      shows: 'net.example.test disk.example.test',
    },
  },
  {
    plural: 'csidrivers',
    said: 'csidriver.storage.k8s.io',
    manifest: {
      apiVersion: 'storage.k8s.io/v1',
      kind: 'CSIDriver',
      metadata: {name: `${prefix}.example.test`, labels: LABELS},
      spec: {podInfoOnMount: true, tokenRequests: [{audience: 'vault'}]},
    },
    wide: {
      header:
        'NAME ATTACHREQUIRED PODINFOONMOUNT STORAGECAPACITY TOKENREQUESTS REQUIRESREPUBLISH MODES AGE',
      row: `${prefix}.example.test true true false vault false Persistent AGE`,
    },
    describes: [`Name: ${prefix}.example.test`, 'Pod Info On Mount: true', 'Audience: vault'],
    patch: {
      type: 'strategic',
      body: {spec: {requiresRepublish: true}},
      path: '{.spec.requiresRepublish}',
      shows: 'true',
    },
  },
  {
    plural: 'runtimeclasses',
    said: 'runtimeclass.node.k8s.io',
    manifest: {
      apiVersion: 'node.k8s.io/v1',
      kind: 'RuntimeClass',
      metadata: {name: `${prefix}-sandbox`, labels: LABELS},
      handler: 'runsc',
    },
    wide: {header: 'NAME HANDLER AGE', row: `${prefix}-sandbox runsc AGE`},
    describes: [`Name: ${prefix}-sandbox`, 'Handler: runsc'],
    patch: {
      type: 'strategic',
      body: {scheduling: {nodeSelector: {sandbox: 'yes'}}},
      path: '{.scheduling.nodeSelector.sandbox}',
      shows: 'yes',
    },
  },
]
