/** One object of each kind that the server takes, as small as it may be. */
export const BASE_OBJECTS: Record<string, object> = {
  configmaps: {},
  events: {
    metadata: {namespace: 'default'},
    involvedObject: {namespace: 'default', kind: 'Pod', name: 'a'},
  },
  namespaces: {},
  nodes: {},
  persistentvolumeclaims: {
    spec: {accessModes: ['ReadWriteOnce'], resources: {requests: {storage: '1Gi'}}},
  },
  persistentvolumes: {
    spec: {accessModes: ['ReadWriteOnce'], capacity: {storage: '1Gi'}, hostPath: {path: '/a'}},
  },
  pods: {spec: {containers: [{name: 'a', image: 'a'}]}},
  secrets: {},
  serviceaccounts: {},
  services: {spec: {ports: [{port: 80}]}},
  certificatesigningrequests: {
    spec: {request: '', signerName: 'example.com/a', usages: ['client auth']},
  },
  leases: {},
  machines: {},
  runtimeclasses: {handler: 'a'},
  clusterrolebindings: {
    roleRef: {apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'view'},
  },
  rolebindings: {
    roleRef: {apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'view'},
  },
  csidrivers: {spec: {}},
  csinodes: {spec: {drivers: []}},
}
