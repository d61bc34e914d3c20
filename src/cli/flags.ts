import * as Flags from '@oclif/core/flags'

const OUTPUT_FORMATS = ['table', 'json', 'yaml', 'name'] as const

export const isForPeople = (format: string): boolean => ['table', 'wide'].includes(format)

/** Every command has these. */
export const commonFlags = {
  verbose: Flags.boolean({
    helpGroup: 'COMMON',
    summary: 'print more details, and the stack of an error',
  }),
  quiet: Flags.boolean({
    helpGroup: 'COMMON',
    summary: 'print only results and errors',
    exclusive: ['verbose'],
  }),
}

export const output = Flags.option({
  char: 'o',
  helpGroup: 'COMMON',
  summary: 'how the result is printed',
  options: OUTPUT_FORMATS,
  default: 'table',
})()

/** For results that have more to show where there is room. */
export const wideOutput = Flags.option({
  char: 'o',
  helpGroup: 'COMMON',
  summary: 'how the result is printed',
  options: [...OUTPUT_FORMATS, 'wide'] as const,
  default: 'table',
})()

export const skipPhases = (command: string) =>
  Flags.string({
    helpValue: '<phases>',
    multiple: true,
    multipleNonGreedy: true,
    delimiter: ',',
    summary: `phases to skip, with the names of "${command} phase", separated by commas; may be repeated`,
  })

export const dir = Flags.string({
  helpGroup: 'COMMON',
  helpValue: '<folder>',
  summary:
    'the folder of the control plane [default: $TRUSTADM_DIR; else /var/lib/trustadm for root, ~/.trustadm for others]',
})

export const unitDir = Flags.string({
  helpValue: '<folder>',
  summary: 'the folder of the unit',
  default: '/etc/systemd/system',
})

export const yes = Flags.boolean({
  char: 'y',
  summary: 'do not ask for confirmation',
})

export const dryRun = Flags.boolean({
  summary: 'print what would be done, and change nothing',
})
