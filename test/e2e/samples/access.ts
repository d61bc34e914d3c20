import type {Sample} from './sample.ts'

const LABELS = {suite: 'samples'}
const GROUP = 'rbac.authorization.k8s.io'
const READ = {apiGroups: [''], resources: ['secrets'], verbs: ['get', 'list']}

/** Roles and bindings. */
export const accessSamples = (prefix: string): Sample[] => [
  {
    plural: 'roles',
    said: `role.${GROUP}`,
    manifest: {
      apiVersion: `${GROUP}/v1`,
      kind: 'Role',
      metadata: {name: 'reader', labels: LABELS},
      rules: [{...READ, resourceNames: ['key']}],
    },
    wide: {header: 'NAME CREATED AT', row: 'reader TIME'},
    describes: ['Name: reader', 'secrets [] [key] [get list]'],
    patch: {
      type: 'strategic',
      body: {rules: [{apiGroups: [''], resources: ['pods'], verbs: ['watch']}]},
      path: '{.rules[*].resources[*]}',
      shows: 'pods',
    },
  },
  {
    plural: 'rolebindings',
    said: `rolebinding.${GROUP}`,
    manifest: {
      apiVersion: `${GROUP}/v1`,
      kind: 'RoleBinding',
      metadata: {name: 'readers', labels: LABELS},
      roleRef: {apiGroup: GROUP, kind: 'Role', name: 'reader'},
      subjects: [
        {apiGroup: GROUP, kind: 'User', name: 'ada'},
        {apiGroup: GROUP, kind: 'Group', name: 'auditors'},
        {kind: 'ServiceAccount', name: 'robot', namespace: 'factory'},
      ],
    },
    wide: {
      header: 'NAME ROLE AGE USERS GROUPS SERVICEACCOUNTS',
      row: 'readers Role/reader AGE ada auditors factory/robot',
    },
    describes: ['Name: readers', 'Kind: Role', 'User ada', 'ServiceAccount robot factory'],
    patch: {
      type: 'strategic',
      body: {subjects: [{apiGroup: GROUP, kind: 'User', name: 'grace'}]},
      path: '{.subjects[*].name}',
      shows: 'grace',
    },
  },
  {
    plural: 'clusterroles',
    said: `clusterrole.${GROUP}`,
    manifest: {
      apiVersion: `${GROUP}/v1`,
      kind: 'ClusterRole',
      metadata: {name: `${prefix}:metrics`, labels: LABELS},
      rules: [{nonResourceURLs: ['/metrics'], verbs: ['get']}],
    },
    wide: {header: 'NAME CREATED AT', row: `${prefix}:metrics TIME`},
    describes: [`Name: ${prefix}:metrics`, '[/metrics] [] [get]'],
    patch: {
      type: 'strategic',
      body: {rules: [{nonResourceURLs: ['/metrics', '/version'], verbs: ['get']}]},
      path: '{.rules[*].nonResourceURLs[*]}',
      shows: '/metrics /version',
    },
  },
  {
    plural: 'clusterrolebindings',
    said: `clusterrolebinding.${GROUP}`,
    manifest: {
      apiVersion: `${GROUP}/v1`,
      kind: 'ClusterRoleBinding',
      metadata: {name: `${prefix}:metrics`, labels: LABELS},
      roleRef: {apiGroup: GROUP, kind: 'ClusterRole', name: `${prefix}:metrics`},
      subjects: [{apiGroup: GROUP, kind: 'Group', name: 'watchers'}],
    },
    wide: {
      header: 'NAME ROLE AGE USERS GROUPS SERVICEACCOUNTS',
      row: `${prefix}:metrics ClusterRole/${prefix}:metrics AGE watchers`,
    },
    describes: [`Name: ${prefix}:metrics`, 'Kind: ClusterRole', 'Group watchers'],
    patch: {type: 'strategic', body: {subjects: null}, path: '{.subjects}', shows: ''},
  },
]
