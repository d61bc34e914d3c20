import * as Args from '@oclif/core/args'
import * as Flags from '@oclif/core/flags'
import {BOOTSTRAPPER_NAMESPACE} from '../csr/bootstrapper.ts'

export const namespace = Flags.string({
  char: 'n',
  helpValue: '<namespace>',
  default: BOOTSTRAPPER_NAMESPACE,
  summary: 'the namespace of the Machines',
})

export const inventory = Flags.string({
  char: 'f',
  helpValue: '<file>',
  summary: 'an inventory in CSV, YAML or JSON; - reads stdin',
})

export const machineNames = Args.string({
  multiple: true,
  ignoreStdin: true,
  description: 'the names of Machines, or "namespace/name"',
})
