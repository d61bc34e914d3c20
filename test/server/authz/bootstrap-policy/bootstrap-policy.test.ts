import assert from 'node:assert/strict'
import type {UserInfo} from '../../../../src/api/meta.ts'
import {createAuthorize} from '../../../../src/server/authz/authorizer.ts'
import {bootstrapPolicy} from '../../../../src/server/authz/bootstrap-policy/index.ts'
import {RbacIndex} from '../../../../src/server/authz/rbac/rbac-index.ts'
import {ask, user} from '../rbac/support.ts'

function bootstrapIndex(): RbacIndex {
  const {clusterRoles, clusterRoleBindings, roles, roleBindings} = bootstrapPolicy()
  const index = new RbacIndex()
  for (const object of clusterRoles) index.upsert('ClusterRole', object)
  for (const object of clusterRoleBindings) index.upsert('ClusterRoleBinding', object)
  for (const object of roles) index.upsert('Role', object)
  for (const object of roleBindings) index.upsert('RoleBinding', object)
  return index
}

const nobody = user('system:anonymous', 'system:unauthenticated')
const somebody = user('ann', 'system:authenticated')
const node = user('system:node:n1', 'system:nodes', 'system:authenticated')
const manager = user('system:kube-controller-manager', 'system:authenticated')
const account = (name: string) =>
  user(`system:serviceaccount:kube-system:${name}`, 'system:serviceaccounts')

const reach: [UserInfo, string, boolean][] = [
  [nobody, 'get /version', true],
  [nobody, 'get /healthz', true],
  [nobody, 'get /readyz', true],
  [nobody, 'get /livez', true],
  [nobody, 'get /api', false],
  [nobody, 'get /apis', false],
  [nobody, 'get /openapi/v2', false],
  [nobody, 'get /metrics', false],
  [nobody, 'get /readyz/etcd', false],
  [nobody, 'post /version', false],
  [nobody, 'get configmaps in kube-public named cluster-info', false],
  [nobody, 'list namespaces', false],
  [nobody, 'create authorization.k8s.io/selfsubjectaccessreviews', false],
  [somebody, 'get /api', true],
  [somebody, 'get /apis/apps/v1', true],
  [somebody, 'create authorization.k8s.io/selfsubjectaccessreviews', true],
  [somebody, 'create authentication.k8s.io/selfsubjectreviews', true],
  [somebody, 'create authorization.k8s.io/subjectaccessreviews', false],
  [somebody, 'get secrets in default named s', false],
  [node, 'get nodes named n1', false],
  [node, 'create certificates.k8s.io/certificatesigningrequests', false],
  [manager, 'list secrets', true],
  [manager, 'update certificates.k8s.io/certificatesigningrequests/status named c', false],
  [manager, 'get coordination.k8s.io/leases in kube-system named kube-controller-manager', true],
  [
    account('certificate-controller'),
    'sign certificates.k8s.io/signers named kubernetes.io/kubelet-serving',
    true,
  ],
  [
    account('certificate-controller'),
    'approve certificates.k8s.io/signers named kubernetes.io/kubelet-serving',
    false,
  ],
  [account('certificate-controller'), 'get nodes named n1', true],
  [account('ttl-controller'), 'patch nodes named n1', true],
  [account('ttl-controller'), 'delete nodes named n1', false],
  [account('legacy-service-account-token-cleaner'), 'delete secrets in default named s', true],
  [account('legacy-service-account-token-cleaner'), 'get secrets in default named s', false],
  ...['get', 'create', 'update', 'patch', 'delete'].flatMap((verb) =>
    [user('system:kube-scheduler'), account('token-cleaner'), account('cloud-provider'), node].map(
      (other): [UserInfo, string, boolean] => [
        other,
        `${verb} configmaps in trustadm-system named trustadm-node.n1`,
        false,
      ],
    ),
  ),
  [user('system:kube-scheduler'), 'update coordination.k8s.io/leases in kube-system named l', true],
  [
    user('system:kube-scheduler'),
    'update coordination.k8s.io/leases in trustadm-system named trustadm-serve',
    false,
  ],
  [account('certificate-controller'), 'create configmaps in trustadm-system', true],
  [account('certificate-controller'), 'create configmaps in kube-system', false],
  [
    account('kubelet-serving-approver'),
    'approve certificates.k8s.io/signers named kubernetes.io/kubelet-serving',
    true,
  ],
  [
    account('kubelet-serving-approver'),
    'approve certificates.k8s.io/signers named kubernetes.io/kube-apiserver-client-kubelet',
    false,
  ],
  [
    account('machine-approver'),
    'approve certificates.k8s.io/signers named kubernetes.io/kube-apiserver-client-kubelet',
    true,
  ],
  [
    account('machine-approver'),
    'approve certificates.k8s.io/signers named kubernetes.io/kubelet-serving',
    false,
  ],
  [account('machine-approver'), 'create configmaps in trustadm-system', true],
  [account('machine-approver'), 'create configmaps in kube-system', false],
  [account('node-link'), 'patch machine.openshift.io/machines/status in default', true],
  [account('node-link'), 'patch machine.openshift.io/machines in default', false],
  [account('machine-approver'), 'update machine.openshift.io/machines/status in default', false],
  [account('kubelet-serving-approver'), 'get services in default named kubernetes', true],
  [account('kubelet-serving-approver'), 'get services in default named other', false],
  [account('kubelet-serving-approver'), 'get configmaps in kube-system named kubeadm-config', true],
  [account('kubelet-serving-approver'), 'get configmaps in kube-system named other', false],
  [
    account('kubelet-serving-ca-publisher'),
    'update configmaps in kube-system named kubelet-serving-ca',
    true,
  ],
  [account('kubelet-serving-ca-publisher'), 'update configmaps in kube-system named other', false],
  [
    account('revocation-cleaner'),
    'update configmaps in kube-system named trustadm-revoked-certificates-2',
    true,
  ],
  [account('revocation-cleaner'), 'update configmaps in kube-system named other', false],
  [account('revocation-cleaner'), 'create configmaps in kube-system', false],
  // The user that all controllers watch by does that for them.
  [account('kubelet-serving-approver'), 'list machine.openshift.io/machines', false],
  [user('system:kube-controller-manager'), 'list machine.openshift.io/machines', true],
  [account('certificate-controller'), 'list configmaps in trustadm-system', false],
  [account('token-cleaner'), 'delete secrets in kube-system named s', true],
  [account('token-cleaner'), 'delete secrets in default named s', false],
  [account('bootstrap-signer'), 'update configmaps in kube-public named cluster-info', true],
  [account('bootstrap-signer'), 'update configmaps in kube-public named other', false],
  [account('any'), 'get /openid/v1/jwks', true],
  [user('prometheus', 'system:monitoring'), 'get /metrics', true],
]

describe('bootstrapPolicy', () => {
  const index = bootstrapIndex()
  for (const [who, question, allowed] of reach) {
    it(`${allowed ? 'lets' : 'does not let'} ${who.username} ${question}`, () => {
      assert.equal(index.authorize(who, ask(question)).allowed, allowed)
    })
  }

  it('says which binding let somebody discover', () => {
    assert.equal(
      index.authorize(somebody, ask('get /api')).reason,
      'RBAC: allowed by ClusterRoleBinding "system:discovery" of ClusterRole "system:discovery" to Group "system:authenticated"',
    )
  })

  it('has all of the roles and bindings, marked as Kubernetes marks them', () => {
    const {clusterRoles, clusterRoleBindings, roles, roleBindings} = bootstrapPolicy()
    assert.deepEqual(
      [clusterRoles, clusterRoleBindings, roles, roleBindings].map(({length}) => length),
      [41, 28, 18, 15],
    )
    for (const object of [...clusterRoles, ...clusterRoleBindings, ...roles, ...roleBindings]) {
      assert.equal(object.metadata.labels?.['kubernetes.io/bootstrapping'], 'rbac-defaults')
      assert.equal(
        object.metadata.annotations?.['rbac.authorization.kubernetes.io/autoupdate'],
        'true',
      )
    }
  })

  it('fills the aggregated roles from the start', () => {
    const {clusterRoles} = bootstrapPolicy()
    const rulesOf = (name: string) =>
      clusterRoles.find(({metadata}) => metadata.name === name)?.rules ?? []
    assert.equal(rulesOf('view').length, rulesOf('system:aggregate-to-view').length)
    assert.equal(
      rulesOf('edit').length,
      rulesOf('view').length + rulesOf('system:aggregate-to-edit').length,
    )
    assert.equal(
      rulesOf('admin').length,
      rulesOf('edit').length + rulesOf('system:aggregate-to-admin').length,
    )
  })

  it('writes a rule with groups, resources and names', () => {
    const {roles} = bootstrapPolicy()
    const signer = roles.find(
      ({metadata}) =>
        metadata.namespace === 'kube-public' &&
        metadata.name === 'system:controller:bootstrap-signer',
    )
    assert.deepEqual(signer?.rules?.slice(1), [
      {
        verbs: ['update'],
        apiGroups: [''],
        resources: ['configmaps'],
        resourceNames: ['cluster-info'],
      },
      {
        verbs: ['create', 'patch', 'update'],
        apiGroups: ['', 'events.k8s.io'],
        resources: ['events'],
      },
    ])
  })

  it('lets masters do everything without any of it', () => {
    const authorize = createAuthorize(new RbacIndex())
    assert.deepEqual(
      authorize(user('root', 'system:masters'), ask('delete secrets in a named s')),
      {
        allowed: true,
        reason: '',
      },
    )
  })
})
