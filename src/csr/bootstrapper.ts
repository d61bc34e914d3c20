/** The service account with which a fleet's machines ask for their first certificate, whatever kind of credential they hold. */
export const BOOTSTRAPPER = 'node-bootstrapper'

/** The namespace that it is in by default, and the one that OpenShift keeps it in. */
export const BOOTSTRAPPER_NAMESPACE = 'kube-system'
export const OPENSHIFT_BOOTSTRAPPER_NAMESPACE = 'openshift-machine-config-operator'

/** No others: whoever manages a namespace can create a service account of that name in it. */
export const BOOTSTRAPPER_NAMESPACES: readonly string[] = [
  BOOTSTRAPPER_NAMESPACE,
  OPENSHIFT_BOOTSTRAPPER_NAMESPACE,
]

export const bootstrapperUser = (namespace: string): string =>
  `system:serviceaccount:${namespace}:${BOOTSTRAPPER}`

/** The ClusterRoleBinding that `bootstrap-credential create` makes for it. */
export const bootstrapperBinding = (namespace: string): string =>
  `trustadm:node-bootstrapper:${namespace}`

/** The groups that its credentials have; the server adds `system:authenticated`. */
export const bootstrapperGroups = (namespace: string): string[] => [
  'system:serviceaccounts',
  `system:serviceaccounts:${namespace}`,
]

/** The namespace of the bootstrapper that a user is; undefined for every other user. */
export const bootstrapperNamespaceOf = (username = ''): string | undefined =>
  BOOTSTRAPPER_NAMESPACES.find((namespace) => username === bootstrapperUser(namespace))
