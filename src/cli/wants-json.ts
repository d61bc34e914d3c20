const WITH_VALUE = ['--output=json', '-ojson', '-o=json']
const FLAGS = ['--output', '-o']

/** Whether a command line asks for JSON. It may be one that the parser refuses. */
export const wantsJson = (argv: readonly string[]): boolean =>
  argv.some(
    (argument, index) =>
      WITH_VALUE.includes(argument) || (FLAGS.includes(argument) && argv[index + 1] === 'json'),
  )

/** Whether one of these flags is on it. */
export const wants = (argv: readonly string[], ...flags: string[]): boolean =>
  flags.some((flag) => argv.includes(flag))
