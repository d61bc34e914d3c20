import {shellWord} from '../../client/printable.ts'
import type {InitResult} from '../../control-plane/init/init.ts'
import {planeCommand} from '../../control-plane/plane-command.ts'
import {columnsOf, formatFields, wrap, type Field} from '../layout.ts'
import type {View} from '../output.ts'
import {colours} from '../colours.ts'

const WIDTH = 15

function headline({endpoint}: InitResult, isRunning: boolean): string {
  const {bold} = colours(process.stdout)
  const text = isRunning
    ? `The control plane is ready at ${endpoint}`
    : 'The control plane is set up; its server is not running'
  return bold(wrap(text, {columns: columnsOf(process.stdout), indent: 2, taken: 0}))
}

function nextSteps({kubeconfig, dir, joinCommand}: InitResult, isRunning: boolean): Field[] {
  const start: Field[] = [
    ['Start it:', planeCommand(dir, 'init')],
    ['     or:', planeCommand(dir, 'serve')],
  ]
  return [
    ...(isRunning ? [] : start),
    ['Use it:', `kubectl --kubeconfig ${shellWord(kubeconfig)} get namespaces`],
    ['Check it:', planeCommand(dir, 'status')],
    ...(joinCommand === null
      ? ([['Join it:', planeCommand(dir, 'token create --print-join-command')]] as const)
      : []),
  ]
}

/** Lines to copy are never broken, however long they are. */
const copied = (fields: readonly Field[]): string =>
  formatFields(fields, {columns: Infinity, width: WIDTH})

const ADD_SERVER = `To add a machine to the control plane, run this on it within two hours. It needs
etcd as the store:`

/** Without a token, there is no command that has it. */
const uploaded = (key: string | null): string =>
  key === null
    ? ''
    : `\nThe CAs are uploaded for two hours, encrypted with this certificate key:\n\n${key}\n`

const joining = ({joinCommand, controlPlaneJoinCommand, certificateKey}: InitResult): string =>
  [
    joinCommand === null ? '' : `\nTo add a machine, run this on it:\n\n${joinCommand}\n`,
    controlPlaneJoinCommand === null
      ? uploaded(certificateKey)
      : `\n${ADD_SERVER}\n\n${controlPlaneJoinCommand}\n`,
  ].join('')

/** `--skip-phases` may skip the server: then nothing is ready yet. */
export const initView = (isRunning: boolean): View<InitResult> => ({
  table(result) {
    const {caCertHashes, kubeconfig, dir} = result
    const facts: Field[] = [
      ['kubeconfig', kubeconfig],
      ['folder', dir],
      ['CA pin', caCertHashes.join('\n')],
    ]
    const options = {columns: columnsOf(process.stdout), width: WIDTH, indent: 2}
    return [
      `\n${headline(result, isRunning)}\n\n`,
      `${formatFields(facts, options)}\n`,
      copied(nextSteps(result, isRunning)),
      joining(result),
    ].join('')
  },
  name: ({endpoint}) => [endpoint],
})
