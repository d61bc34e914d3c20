import * as Flags from '@oclif/core/flags'

export const controllers = Flags.string({
  multiple: true,
  multipleNonGreedy: true,
  delimiter: ',',
  default: ['*'],
  helpValue: '<names>',
  summary:
    'which controllers run, separated by commas: * for all, a name for one, -name for not this one; names of kube-controller-manager are known too',
})

export const deny = Flags.boolean({
  summary:
    "deny kubelets' serving requests that can never become right, instead of leaving them to a person",
})
