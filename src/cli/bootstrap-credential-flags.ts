import * as Args from '@oclif/core/args'
import * as Flags from '@oclif/core/flags'

export const credentialId = Args.string({
  required: true,
  ignoreStdin: true,
  description:
    'the id of a credential, as "bootstrap-credential list" shows it; its first digits are enough',
})

/** Only these: the API server trusts the bootstrapper of no other namespace. */
export const bootstrapperNamespace = Flags.option({
  options: ['kube-system', 'openshift-machine-config-operator'] as const,
  default: 'kube-system' as const,
  helpValue: '<namespace>',
  summary:
    "the namespace of the service account node-bootstrapper; for OpenShift's, the ConfigMap is in openshift-config",
})()
