import type {InitResult} from '../../control-plane/init.ts'
import {colours} from '../terminal.ts'
import type {View} from '../output.ts'

export const initView: View<InitResult> = {
  table({endpoint, caCertHashes, kubeconfig, dir}) {
    const paint = colours(process.stdout)
    return `
${paint.bold(`The control plane is ready at ${endpoint}`)}

  kubeconfig   ${kubeconfig}
  folder       ${dir}
  CA pin       ${caCertHashes.join('\n               ')}

Use it:        kubectl --kubeconfig ${kubeconfig} get namespaces
Look at it:    trustadm status --dir ${dir}
`
  },
  name: ({endpoint}) => [endpoint],
}
