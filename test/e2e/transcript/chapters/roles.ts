import {invalid, stored, type Chapter} from '../step.ts'

export const roles: Chapter = {
  name: 'roles and bindings',
  steps: [
    {
      says: 'creates by an update where the kind allows it',
      ask: 'PUT /apis/rbac.authorization.k8s.io/v1/namespaces/$ns/roles/made',
      body: {
        metadata: {name: 'made'},
        rules: [{apiGroups: [''], resources: ['pods'], verbs: ['get']}],
      },
      answer: {
        code: 201,
        body: {
          kind: 'Role',
          apiVersion: 'rbac.authorization.k8s.io/v1',
          metadata: stored('made'),
          rules: [{verbs: ['get'], apiGroups: [''], resources: ['pods']}],
        },
      },
    },
    {
      says: 'refuses a rule without verbs and groups',
      ask: 'POST /apis/rbac.authorization.k8s.io/v1/namespaces/$ns/roles',
      body: {metadata: {name: 'wrong'}, rules: [{resources: ['pods']}]},
      answer: invalid(
        'Role.rbac.authorization.k8s.io',
        'wrong',
        [
          'rules[0].verbs',
          'FieldValueRequired',
          'Required value: verbs must contain at least one value',
        ],
        [
          'rules[0].apiGroups',
          'FieldValueRequired',
          'Required value: resource rules must supply at least one api group',
        ],
      ),
    },
    {
      says: 'refuses paths in a namespace',
      ask: 'POST /apis/rbac.authorization.k8s.io/v1/namespaces/$ns/roles',
      body: {metadata: {name: 'wrong'}, rules: [{nonResourceURLs: ['/logs'], verbs: ['get']}]},
      answer: invalid('Role.rbac.authorization.k8s.io', 'wrong', [
        'rules[0].nonResourceURLs',
        'FieldValueInvalid',
        'Invalid value: ["/logs"]: namespaced rules cannot apply to non-resource URLs',
      ]),
    },
    {
      says: 'fills in the groups of a binding',
      ask: 'POST /apis/rbac.authorization.k8s.io/v1/namespaces/$ns/rolebindings',
      body: {
        metadata: {name: 'bound'},
        roleRef: {kind: 'Role', name: 'made'},
        subjects: [
          {kind: 'User', name: 'ada'},
          {kind: 'ServiceAccount', name: 'robot'},
        ],
      },
      answer: {
        code: 201,
        body: {
          kind: 'RoleBinding',
          apiVersion: 'rbac.authorization.k8s.io/v1',
          metadata: stored('bound'),
          subjects: [
            {kind: 'User', name: 'ada', apiGroup: 'rbac.authorization.k8s.io'},
            {kind: 'ServiceAccount', name: 'robot'},
          ],
          roleRef: {apiGroup: 'rbac.authorization.k8s.io', kind: 'Role', name: 'made'},
        },
      },
    },
    {
      says: 'never changes what a binding refers to',
      ask: 'PATCH /apis/rbac.authorization.k8s.io/v1/namespaces/$ns/rolebindings/bound',
      type: 'application/merge-patch+json',
      body: {roleRef: {name: 'other'}},
      answer: invalid('RoleBinding.rbac.authorization.k8s.io', 'bound', [
        'roleRef',
        'FieldValueInvalid',
        'Invalid value: {"APIGroup":"rbac.authorization.k8s.io","Kind":"Role","Name":"other"}: cannot change roleRef',
      ]),
    },
    {
      says: 'refuses a subject that is nobody',
      ask: 'POST /apis/rbac.authorization.k8s.io/v1/namespaces/$ns/rolebindings',
      body: {
        metadata: {name: 'wrong'},
        roleRef: {kind: 'Role', name: 'made'},
        subjects: [{kind: 'Robot', name: ''}],
      },
      answer: invalid(
        'RoleBinding.rbac.authorization.k8s.io',
        'wrong',
        ['subjects[0].name', 'FieldValueRequired', 'Required value'],
        [
          'subjects[0].kind',
          'FieldValueNotSupported',
          'Unsupported value: "Robot": supported values: "ServiceAccount", "User", "Group"',
        ],
      ),
    },
  ],
}
