import type {InitPlan, InitResult} from '../../control-plane/init.ts'
import type {View} from '../output.ts'
import {colours} from '../terminal.ts'

function headline({endpoint, dir}: InitResult, isRunning: boolean): string {
  const paint = colours(process.stdout)
  return isRunning
    ? paint.bold(`The control plane is ready at ${endpoint}`)
    : `${paint.bold('The control plane is set up; its server does not run')}

Start it:      trustadm init --dir ${dir}
     or:       trustadm serve --dir ${dir}`
}

function joining({joinCommand, dir}: InitResult): string {
  if (joinCommand === null) {
    return `Join to it:    trustadm token create --print-join-command --dir ${dir}\n`
  }
  return `
Bring a machine into the cluster by this line, run on it:

${joinCommand}
`
}

/** `--skip-phases` may leave the server out: nothing is called ready that is not. */
export const initView = (isRunning: boolean): View<InitResult> => ({
  table(result) {
    const {caCertHashes, kubeconfig, dir} = result
    return `
${headline(result, isRunning)}

  kubeconfig   ${kubeconfig}
  folder       ${dir}
  CA pin       ${caCertHashes.join('\n               ')}

Use it:        kubectl --kubeconfig ${kubeconfig} get namespaces
Look at it:    trustadm status --dir ${dir}
${joining(result)}`
  },
  name: ({endpoint}) => [endpoint],
})

export const initPlanView: View<InitPlan> = {
  table: ({changes}) =>
    changes.length === 0
      ? 'nothing would be changed\n'
      : changes.map(({phase, change}) => `[${phase}] would ${change}\n`).join(''),
  name: ({changes}) => changes.map(({phase}) => phase),
}
