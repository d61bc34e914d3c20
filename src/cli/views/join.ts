import {hostname} from 'node:os'
import type {JoinResult} from '../../node/describe-node.ts'
import type {JoinPlan} from '../../node/join.ts'
import {nodeFile} from '../../node/places.ts'
import type {View} from '../output.ts'
import {colours} from '../terminal.ts'

function headline({nodeName, certificate, clusterInfo}: JoinResult): string {
  const {bold} = colours(process.stdout)
  const where = clusterInfo === null ? 'the cluster' : `the cluster at ${clusterInfo.server}`
  return certificate === null
    ? bold(`This machine knows ${where}, and has no certificate yet`)
    : bold(`This machine is the node "${nodeName}" of ${where}`)
}

const line = (name: string, value: string | null | undefined): string =>
  value == null || value === '' ? '' : `  ${name.padEnd(13)}${value}\n`

/** Without --kubeconfig, where it is to write its own, a kubelet starts without a cluster. */
function kubeletFlags({nodeName, dir}: JoinResult): string {
  return [
    `--bootstrap-kubeconfig ${nodeFile(dir, 'bootstrapKubeconfig')}`,
    `--kubeconfig ${nodeFile(dir, 'kubeconfig')}`,
    ...(nodeName === hostname().toLowerCase() ? [] : [`--hostname-override ${nodeName}`]),
  ].join(' ')
}

function nextStep(result: JoinResult): string {
  const {nodeName, certificate, kubeconfig, dir} = result
  if (kubeconfig === null) return ''
  if (certificate !== null) {
    return `\nUse it:        kubectl --kubeconfig ${kubeconfig} get node ${nodeName}\n`
  }
  return kubeconfig === nodeFile(dir, 'bootstrapKubeconfig')
    ? `\nNext:          start the kubelet with ${kubeletFlags(result)}\n`
    : ''
}

export const joinView: View<JoinResult> = {
  table(result) {
    const {certificate, kubeconfig, notAfter, clusterInfo, dir} = result
    return [
      `\n${headline(result)}\n\n`,
      line('certificate', certificate),
      line('valid until', notAfter),
      line('kubeconfig', kubeconfig),
      line('folder', dir),
      line('CA pin', clusterInfo?.caCertHashes.join(`\n${' '.repeat(15)}`)),
      nextStep(result),
    ].join('')
  },
  name: ({nodeName}) => [`node/${nodeName}`],
}

export const joinPlanView: View<JoinPlan> = {
  table: ({changes}) =>
    changes.length === 0
      ? 'nothing would be changed\n'
      : changes.map(({phase, change}) => `[${phase}] would ${change}\n`).join(''),
  name: ({changes}) => changes.map(({phase}) => phase),
}
