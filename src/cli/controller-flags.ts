import * as Flags from '@oclif/core/flags'

const SELECTION =
  'controllers to run, separated by commas: * for all, a name for one, -name to exclude one; the names of kube-controller-manager work too'

const selection = (summary: string) =>
  Flags.string({
    multiple: true,
    multipleNonGreedy: true,
    delimiter: ',',
    default: ['*'],
    helpValue: '<names>',
    summary,
  })

export const controllers = selection(SELECTION)

/** A server can run without any: all of them may run elsewhere. */
export const servedControllers = selection(`${SELECTION}; "none" for none`)

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
    "deny kubelets' serving requests that can never be approved, instead of leaving them to a person",
})
