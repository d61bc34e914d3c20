import {failure, type Chapter} from '../step.ts'

export const callers: Chapter = {
  name: 'callers',
  steps: [
    {
      says: 'starts with a role',
      part: 'metadata.name',
      ask: 'POST /apis/rbac.authorization.k8s.io/v1/namespaces/$ns/roles',
      body: {
        metadata: {name: 'nurse'},
        rules: [
          {
            apiGroups: [''],
            resources: ['secrets'],
            resourceNames: ['cabinet'],
            verbs: ['get', 'update'],
          },
          {apiGroups: [''], resources: ['pods/status'], verbs: ['patch']},
        ],
      },
      answer: {code: 201, body: 'nurse'},
    },
    {
      says: 'gives it to a group',
      part: 'metadata.name',
      ask: 'POST /apis/rbac.authorization.k8s.io/v1/namespaces/$ns/rolebindings',
      body: {
        metadata: {name: 'nurses'},
        roleRef: {apiGroup: 'rbac.authorization.k8s.io', kind: 'Role', name: 'nurse'},
        subjects: [{kind: 'Group', name: 'ward'}],
      },
      answer: {code: 201, body: 'nurses'},
    },
    {
      says: 'refuses a caller by name',
      ask: 'GET /api/v1/namespaces/$ns/secrets/drawer',
      headers: {'impersonate-user': 'eve', 'impersonate-group': 'ward'},
      answer: failure(
        403,
        'Forbidden',
        'secrets "drawer" is forbidden: User "eve" cannot get resource "secrets" in API group "" in the namespace "$ns"',
        {name: 'drawer', kind: 'secrets'},
      ),
    },
    {
      says: 'lets a caller through to what is not there',
      ask: 'GET /api/v1/namespaces/$ns/secrets/cabinet',
      headers: {'impersonate-user': 'eve', 'impersonate-group': 'ward'},
      answer: failure(404, 'NotFound', 'secrets "cabinet" not found', {
        name: 'cabinet',
        kind: 'secrets',
      }),
    },
    {
      says: 'asks for the right to list, even of one name',
      ask: 'GET /api/v1/namespaces/$ns/secrets?fieldSelector=metadata.name%3Dcabinet',
      headers: {'impersonate-user': 'eve', 'impersonate-group': 'ward'},
      answer: failure(
        403,
        'Forbidden',
        'secrets "cabinet" is forbidden: User "eve" cannot list resource "secrets" in API group "" in the namespace "$ns"',
        {name: 'cabinet', kind: 'secrets'},
      ),
    },
    {
      says: 'refuses a whole group of resources',
      ask: 'GET /apis/coordination.k8s.io/v1/leases',
      headers: {'impersonate-user': 'eve', 'impersonate-group': 'ward'},
      answer: failure(
        403,
        'Forbidden',
        'leases.coordination.k8s.io is forbidden: User "eve" cannot list resource "leases" in API group "coordination.k8s.io" at the cluster scope',
        {group: 'coordination.k8s.io', kind: 'leases'},
      ),
    },
    {
      says: 'refuses to act as others',
      ask: 'GET /version',
      anonymous: true,
      headers: {'impersonate-user': 'eve'},
      answer: failure(
        403,
        'Forbidden',
        'users "eve" is forbidden: User "system:anonymous" cannot impersonate resource "users" in API group "" at the cluster scope',
        {name: 'eve', kind: 'users'},
      ),
    },
    {
      says: 'refuses groups without a name',
      ask: 'GET /version',
      headers: {'impersonate-group': 'ward'},
      answer: failure(
        400,
        'BadRequest',
        'requested to impersonate groups, a uid or extra without impersonating a user',
      ),
    },
    {
      says: 'knows whom it serves',
      ask: 'POST /apis/authentication.k8s.io/v1/selfsubjectreviews',
      headers: {
        'impersonate-user': 'eve',
        'impersonate-group': 'ward',
        'impersonate-extra-shift': 'night',
        'impersonate-uid': '7',
      },
      body: {},
      answer: {
        code: 201,
        body: {
          kind: 'SelfSubjectReview',
          apiVersion: 'authentication.k8s.io/v1',
          metadata: {creationTimestamp: 'TIME'},
          status: {
            userInfo: {
              username: 'eve',
              uid: '7',
              groups: ['ward', 'system:authenticated'],
              extra: {shift: ['night']},
            },
          },
        },
      },
    },
    {
      says: 'knows service accounts by their name',
      ask: 'POST /apis/authentication.k8s.io/v1/selfsubjectreviews',
      headers: {'impersonate-user': 'system:serviceaccount:$ns:default'},
      body: {},
      answer: {
        code: 201,
        body: {
          kind: 'SelfSubjectReview',
          apiVersion: 'authentication.k8s.io/v1',
          metadata: {creationTimestamp: 'TIME'},
          status: {
            userInfo: {
              username: 'system:serviceaccount:$ns:default',
              groups: [
                'system:serviceaccounts',
                'system:serviceaccounts:$ns',
                'system:authenticated',
              ],
            },
          },
        },
      },
    },
    {
      says: 'knows nobody by a wrong token',
      ask: 'GET /version',
      anonymous: true,
      headers: {authorization: 'Bearer abc'},
      answer: failure(401, 'Unauthorized', 'Unauthorized'),
    },
    {
      says: 'knows nobody by another scheme',
      ask: 'GET /api',
      anonymous: true,
      headers: {authorization: 'Basic YTpi'},
      answer: failure(
        403,
        'Forbidden',
        'forbidden: User "system:anonymous" cannot get path "/api"',
        {},
      ),
    },
    {
      says: 'shows single checks not to everybody',
      ask: 'GET /livez/ping',
      anonymous: true,
      answer: failure(
        403,
        'Forbidden',
        'forbidden: User "system:anonymous" cannot get path "/livez/ping"',
        {},
      ),
    },
    {
      says: 'shows no metrics to everybody',
      ask: 'GET /metrics',
      anonymous: true,
      answer: failure(
        403,
        'Forbidden',
        'forbidden: User "system:anonymous" cannot get path "/metrics"',
        {},
      ),
    },
    {
      says: 'binds no token to what has none',
      ask: 'POST /api/v1/namespaces/$ns/serviceaccounts/default/token',
      body: {
        spec: {
          audiences: ['vault'],
          expirationSeconds: 600,
          boundObjectRef: {kind: 'Job', apiVersion: 'batch/v1', name: 'x'},
        },
      },
      answer: failure(400, 'BadRequest', 'cannot bind token to object of type batch/v1, Kind=Job'),
    },
    {
      says: 'binds no token to what is not there',
      ask: 'POST /api/v1/namespaces/$ns/serviceaccounts/default/token',
      body: {spec: {boundObjectRef: {kind: 'Pod', apiVersion: 'v1', name: 'x'}}},
      answer: failure(404, 'NotFound', 'pods "x" not found', {name: 'x', kind: 'pods'}),
    },
    {
      says: 'may not delete what everything needs',
      ask: 'DELETE /api/v1/namespaces/kube-public',
      answer: failure(
        403,
        'Forbidden',
        'namespaces "kube-public" is forbidden: this namespace may not be deleted',
        {name: 'kube-public', kind: 'namespaces'},
      ),
    },
  ],
}
