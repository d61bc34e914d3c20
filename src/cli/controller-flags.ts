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

/** Also of `init`, which keeps them in the configuration. */
export const servingFlags = {
  'serving-cidr': Flags.string({
    helpValue: '<range>',
    multiple: true,
    multipleNonGreedy: true,
    delimiter: ',',
    summary:
      'approve serving certificates of nodes without a Machine for addresses in this range that they have registered; may be repeated',
  }),
  'serving-domain': Flags.string({
    helpValue: '<domain>',
    multiple: true,
    multipleNonGreedy: true,
    delimiter: ',',
    summary:
      'approve serving certificates of nodes without a Machine for names below this domain that they have registered; may be repeated',
  }),
}

export interface ServingFlagValues {
  'serving-cidr'?: string[] | undefined
  'serving-domain'?: string[] | undefined
}

/** Reads them by the rules of a configuration. */
export async function readServingFlags(flags: ServingFlagValues) {
  const {cidrs, domains} = await import('../control-plane/config/fields.ts')
  const {readFlag} = await import('./flag-value.ts')
  const said = (name: keyof ServingFlagValues, read: typeof cidrs) =>
    flags[name] === undefined ? undefined : readFlag(name, flags[name], read)
  return {cidrs: said('serving-cidr', cidrs), domains: said('serving-domain', domains)}
}

export const deny = Flags.boolean({
  summary:
    "deny kubelets' serving requests that can never become right, instead of leaving them to a person",
})
