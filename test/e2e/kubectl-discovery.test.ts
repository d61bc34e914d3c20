import assert from 'node:assert/strict'
import type {Finished} from '../helpers/kubectl.ts'
import {assertContains, assertLines, lines} from './text.ts'
import {withEveryKubectl} from './versions.ts'

const RESOURCES = [
  'configmaps cm v1 true ConfigMap',
  'events ev v1 true Event',
  'namespaces ns v1 false Namespace',
  'nodes no v1 false Node',
  'persistentvolumeclaims pvc v1 true PersistentVolumeClaim',
  'persistentvolumes pv v1 false PersistentVolume',
  'pods po v1 true Pod',
  'secrets v1 true Secret',
  'serviceaccounts sa v1 true ServiceAccount',
  'services svc v1 true Service',
  'selfsubjectreviews authentication.k8s.io/v1 false SelfSubjectReview',
  'tokenreviews authentication.k8s.io/v1 false TokenReview',
  'localsubjectaccessreviews authorization.k8s.io/v1 true LocalSubjectAccessReview',
  'selfsubjectaccessreviews authorization.k8s.io/v1 false SelfSubjectAccessReview',
  'selfsubjectrulesreviews authorization.k8s.io/v1 false SelfSubjectRulesReview',
  'subjectaccessreviews authorization.k8s.io/v1 false SubjectAccessReview',
  'certificatesigningrequests csr certificates.k8s.io/v1 false CertificateSigningRequest',
  'leases coordination.k8s.io/v1 true Lease',
  'machines machine.openshift.io/v1beta1 true Machine',
  'runtimeclasses node.k8s.io/v1 false RuntimeClass',
  'clusterrolebindings rbac.authorization.k8s.io/v1 false ClusterRoleBinding',
  'clusterroles rbac.authorization.k8s.io/v1 false ClusterRole',
  'rolebindings rbac.authorization.k8s.io/v1 true RoleBinding',
  'roles rbac.authorization.k8s.io/v1 true Role',
  'csidrivers storage.k8s.io/v1 false CSIDriver',
  'csinodes storage.k8s.io/v1 false CSINode',
]

const VERSIONS = [
  'authentication.k8s.io/v1',
  'authorization.k8s.io/v1',
  'certificates.k8s.io/v1',
  'coordination.k8s.io/v1',
  'machine.openshift.io/v1beta1',
  'node.k8s.io/v1',
  'rbac.authorization.k8s.io/v1',
  'storage.k8s.io/v1',
  'v1',
]

const EXPLAINED = [
  {path: 'pods.spec.containers.ports.containerPort', says: 'FIELD: containerPort <integer>'},
  {path: 'nodes.status.conditions.lastHeartbeatTime', says: 'FIELD: lastHeartbeatTime <string>'},
  {path: 'secrets.data', says: 'FIELD: data <map[string]string>'},
  {path: 'clusterroles.aggregationRule', says: 'clusterRoleSelectors <[]'},
  {path: 'machines.spec.providerID', says: 'FIELD: providerID <string>'},
  {path: 'leases.spec', says: 'leaseDurationSeconds <integer>'},
  {path: 'persistentvolumes.spec.hostPath', says: 'path <string>'},
]

withEveryKubectl('discovery', (context) => {
  const {versionLabel} = context

  it('lists every served resource', async () => {
    const text = await context.kubectl.ok('api-resources')
    assertLines(text, ['NAME SHORTNAMES APIVERSION NAMESPACED KIND', ...RESOURCES])
    assert.equal(lines(text).length, RESOURCES.length + 1)
  })

  it('lists the names of what can be listed in a namespace', async () => {
    const text = await context.kubectl.ok('api-resources --namespaced --verbs=list -o name')
    const wanted = RESOURCES.filter((line) => / true (?!LocalSubject)/.test(line))
    assert.equal(lines(text).length, wanted.length)
    assertLines(text, ['configmaps', 'machines.machine.openshift.io'])
  })

  it('lists versions', async () => {
    assertLines(await context.kubectl.ok('api-versions'), VERSIONS)
  })

  let explained: Map<string, Finished>
  before(async () => {
    explained = await context.kubectl.runAll(EXPLAINED.map(({path}) => `explain ${path}`))
  })
  for (const {path, says} of EXPLAINED) {
    it(`explains ${path}`, () => {
      const text = explained.get(`explain ${path}`)?.stdout ?? ''
      assertContains(text, [says, 'DESCRIPTION:'])
    })
  }

  it('explains a kind with all its fields', async () => {
    const text = await context.kubectl.ok('explain csr --recursive')
    assertContains(text, ['KIND: CertificateSigningRequest', 'expirationSeconds <integer>'])
    assertContains(text, ['conditions <[]', 'lastTransitionTime <string>', 'signerName <string>'])
  })

  it('is told of a field that is not there', async () => {
    const errors = await context.kubectl.fails('explain configmaps.nonsense')
    assert.match(errors, /field "nonsense" does not exist/)
  })

  it('says what the server is', async () => {
    assertContains(await context.kubectl.ok('version'), ['Client Version:', versionLabel])
  })

  it('says where the control plane is', async () => {
    const text = await context.kubectl.ok('cluster-info')
    assert.match(text, /is running at .*https:\/\/127\.0\.0\.1:\d+/)
  })

  it('reads the checks of readiness', async () => {
    const text = await context.kubectl.ok('get --raw /readyz?verbose')
    assertLines(text, ['[+]ping ok', 'readyz check passed'])
  })

  it('finds the objects that are there by themselves', async () => {
    const namespaces = await context.kubectl.ok('get namespaces -o name')
    assertLines(namespaces, [
      'namespace/default',
      'namespace/kube-node-lease',
      'namespace/kube-public',
      'namespace/kube-system',
    ])
    const service = await context.kubectl.in('default').ok('get service kubernetes --no-headers')
    assert.match(lines(service)[0] ?? '', /^kubernetes ClusterIP \S+ <none> 443\/TCP \d+/)
  })

  it('gets what is in the category "all"', async () => {
    const text = await context.kubectl.in('default').ok('get all -o name')
    assertLines(text, ['service/kubernetes'])
  })

  it('is told of a type that is not served', async () => {
    const errors = await context.kubectl.fails('get deployments')
    assert.match(errors, /the server doesn't have a resource type "deployments"/)
  })

  it('is told of a path that is not served', async () => {
    const errors = await context.kubectl.fails('get --raw /apis/apps/v1/deployments')
    assert.match(errors, /\(NotFound\): the server could not find the requested resource/)
  })
})
