import {failure, type Chapter} from '../step.ts'

export const reviews: Chapter = {
  name: 'reviews',
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
      says: 'allows a named object',
      ask: 'POST /apis/authorization.k8s.io/v1/subjectaccessreviews',
      body: {
        spec: {
          user: 'eve',
          groups: ['ward'],
          resourceAttributes: {verb: 'get', resource: 'secrets', name: 'cabinet', namespace: '$ns'},
        },
      },
      answer: {
        code: 201,
        body: {
          kind: 'SubjectAccessReview',
          apiVersion: 'authorization.k8s.io/v1',
          metadata: {},
          spec: {
            resourceAttributes: {
              namespace: '$ns',
              verb: 'get',
              resource: 'secrets',
              name: 'cabinet',
            },
            user: 'eve',
            groups: ['ward'],
          },
          status: {
            allowed: true,
            reason: 'RBAC: allowed by RoleBinding "nurses/$ns" of Role "nurse" to Group "ward"',
          },
        },
      },
    },
    {
      says: 'does not allow the others',
      ask: 'POST /apis/authorization.k8s.io/v1/subjectaccessreviews',
      body: {
        spec: {
          user: 'eve',
          groups: ['ward'],
          resourceAttributes: {verb: 'get', resource: 'secrets', name: 'drawer', namespace: '$ns'},
        },
      },
      answer: {
        code: 201,
        body: {
          kind: 'SubjectAccessReview',
          apiVersion: 'authorization.k8s.io/v1',
          metadata: {},
          spec: {
            resourceAttributes: {
              namespace: '$ns',
              verb: 'get',
              resource: 'secrets',
              name: 'drawer',
            },
            user: 'eve',
            groups: ['ward'],
          },
          status: {allowed: false},
        },
      },
    },
    {
      says: 'does not take a part for the whole',
      ask: 'POST /apis/authorization.k8s.io/v1/namespaces/$ns/localsubjectaccessreviews',
      body: {
        metadata: {namespace: '$ns'},
        spec: {
          groups: ['ward'],
          resourceAttributes: {verb: 'patch', resource: 'pods', namespace: '$ns'},
        },
      },
      answer: {
        code: 201,
        body: {
          kind: 'LocalSubjectAccessReview',
          apiVersion: 'authorization.k8s.io/v1',
          metadata: {namespace: '$ns'},
          spec: {
            resourceAttributes: {namespace: '$ns', verb: 'patch', resource: 'pods'},
            groups: ['ward'],
          },
          status: {allowed: false},
        },
      },
    },
    {
      says: 'allows the part',
      ask: 'POST /apis/authorization.k8s.io/v1/namespaces/$ns/localsubjectaccessreviews',
      body: {
        metadata: {namespace: '$ns'},
        spec: {
          groups: ['ward'],
          resourceAttributes: {
            verb: 'patch',
            resource: 'pods',
            subresource: 'status',
            namespace: '$ns',
          },
        },
      },
      answer: {
        code: 201,
        body: {
          kind: 'LocalSubjectAccessReview',
          apiVersion: 'authorization.k8s.io/v1',
          metadata: {namespace: '$ns'},
          spec: {
            resourceAttributes: {
              namespace: '$ns',
              verb: 'patch',
              resource: 'pods',
              subresource: 'status',
            },
            groups: ['ward'],
          },
          status: {
            allowed: true,
            reason: 'RBAC: allowed by RoleBinding "nurses/$ns" of Role "nurse" to Group "ward"',
          },
        },
      },
    },
    {
      says: 'reviews only its own namespace',
      ask: 'POST /apis/authorization.k8s.io/v1/namespaces/$ns/localsubjectaccessreviews',
      body: {
        metadata: {namespace: '$ns'},
        spec: {
          user: 'eve',
          resourceAttributes: {verb: 'get', resource: 'pods', namespace: 'elsewhere'},
        },
      },
      answer: failure(
        422,
        'Invalid',
        '.authorization.k8s.io "" is invalid: spec.resourceAttributes.namespace: Invalid value: "elsewhere": must match metadata.namespace',
        {
          group: 'authorization.k8s.io',
          causes: [
            {
              reason: 'FieldValueInvalid',
              message: 'Invalid value: "elsewhere": must match metadata.namespace',
              field: 'spec.resourceAttributes.namespace',
            },
          ],
        },
      ),
    },
    {
      says: 'refuses a review of two things',
      ask: 'POST /apis/authorization.k8s.io/v1/subjectaccessreviews',
      body: {
        spec: {
          user: 'eve',
          resourceAttributes: {verb: 'get', resource: 'pods'},
          nonResourceAttributes: {verb: 'get', path: '/x'},
        },
      },
      answer: failure(
        422,
        'Invalid',
        '.authorization.k8s.io "" is invalid: spec.nonResourceAttributes: Invalid value: {"Path":"/x","Verb":"get"}: cannot be specified in combination with resourceAttributes',
        {
          group: 'authorization.k8s.io',
          causes: [
            {
              reason: 'FieldValueInvalid',
              message:
                'Invalid value: {"Path":"/x","Verb":"get"}: cannot be specified in combination with resourceAttributes',
              field: 'spec.nonResourceAttributes',
            },
          ],
        },
      ),
    },
    {
      says: 'lists what somebody may',
      ask: 'POST /apis/authorization.k8s.io/v1/selfsubjectrulesreviews',
      headers: {'impersonate-user': 'eve', 'impersonate-group': 'ward'},
      body: {spec: {namespace: '$ns'}},
      answer: {
        code: 201,
        body: {
          kind: 'SelfSubjectRulesReview',
          apiVersion: 'authorization.k8s.io/v1',
          metadata: {},
          spec: {namespace: '$ns'},
          status: {
            resourceRules: [
              {
                verbs: ['create'],
                apiGroups: ['authorization.k8s.io'],
                resources: ['selfsubjectaccessreviews', 'selfsubjectrulesreviews'],
              },
              {
                verbs: ['create'],
                apiGroups: ['authentication.k8s.io'],
                resources: ['selfsubjectreviews'],
              },
              {
                verbs: ['get', 'update'],
                apiGroups: [''],
                resources: ['secrets'],
                resourceNames: ['cabinet'],
              },
              {verbs: ['patch'], apiGroups: [''], resources: ['pods/status']},
            ],
            nonResourceRules: [
              {
                verbs: ['get'],
                nonResourceURLs: [
                  '/api',
                  '/api/*',
                  '/apis',
                  '/apis/*',
                  '/healthz',
                  '/livez',
                  '/openapi',
                  '/openapi/*',
                  '/readyz',
                  '/version',
                  '/version/',
                ],
              },
              {
                verbs: ['get'],
                nonResourceURLs: ['/healthz', '/livez', '/readyz', '/version', '/version/'],
              },
            ],
            incomplete: false,
          },
        },
      },
    },
    {
      says: 'reviews no token without a token',
      ask: 'POST /apis/authentication.k8s.io/v1/tokenreviews',
      body: {spec: {}},
      answer: failure(400, 'BadRequest', 'token is required for TokenReview in authentication'),
    },
  ],
}
