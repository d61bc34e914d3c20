import type {ExistingResult} from '../../control-plane/existing/init.ts'
import {colours} from '../colours.ts'
import {columnsOf, formatFields, wrap, type Field} from '../layout.ts'
import type {View} from '../output.ts'

const WIDTH = 15

const starting = ({missingControllers: [first]}: ExistingResult): string =>
  first ? `\nNo machine can join until these controllers run:\n\n${first.command}\n` : ''

type CommandFor = (command: string) => string

function joining({joinCommand}: ExistingResult, commandFor: CommandFor): string {
  const line = joinCommand ?? commandFor('token create --print-join-command')
  const what = joinCommand === null ? 'To get a join command' : 'To add a machine, run this on it'
  return `\n${what}:\n\n${line}\n`
}

/** What `init --kubeconfig` prints. */
export const existingView = (commandFor: CommandFor): View<ExistingResult> => ({
  table(result) {
    const {bold} = colours(process.stdout)
    const facts: Field[] = [
      ['kubeconfig', result.kubeconfig],
      ['CA pin', result.caCertHashes.join('\n')],
    ]
    const columns = columnsOf(process.stdout)
    const options = {columns, width: WIDTH, indent: 2}
    const headline = `Machines can find the cluster at ${result.endpoint}`
    return [
      `\n${bold(wrap(headline, {columns, indent: 2, taken: 0}))}\n\n`,
      formatFields(facts, options),
      starting(result),
      joining(result, commandFor),
    ].join('')
  },
  name: ({endpoint}) => [endpoint],
})
