import {hostname} from 'node:os'
import type {JoinResult} from '../../node/describe-node.ts'
import {nodeFile} from '../../node/node-files.ts'
import {columnsOf, formatFields, type Field} from '../layout.ts'
import type {View} from '../output.ts'
import {colours} from '../colours.ts'

function headline({nodeName, certificate, clusterInfo}: JoinResult): string {
  const {bold} = colours(process.stdout)
  const where = clusterInfo === null ? 'the cluster' : `the cluster at ${clusterInfo.server}`
  return certificate === null
    ? bold(`This machine trusts ${where} and has no certificate yet`)
    : bold(`This machine is the node "${nodeName}" of ${where}`)
}

const WIDTH = 15

/** What is known about the node; the times of certificates have no fractions of seconds. */
const facts = ({certificate, notAfter, kubeconfig, dir, clusterInfo}: JoinResult): Field[] =>
  (
    [
      ['certificate', certificate],
      ['valid until', notAfter?.replace(/\.\d+Z$/, 'Z')],
      ['kubeconfig', kubeconfig],
      ['folder', dir],
      ['CA pin', clusterInfo?.caCertHashes.join('\n')],
    ] as const
  ).flatMap(([label, value]) => (value ? [[label, value] as const] : []))

/**
 * Without --kubeconfig, to which it writes its own, a kubelet starts without a cluster. Without --cert-dir it keeps its certificate
 * where neither trustadm nor a check of this folder finds it.
 */
function kubeletFlags({nodeName, dir, certDir}: JoinResult): string {
  return [
    `--bootstrap-kubeconfig ${nodeFile(dir, 'bootstrapKubeconfig')}`,
    `--kubeconfig ${nodeFile(dir, 'kubeconfig')}`,
    `--cert-dir ${certDir}`,
    ...(nodeName === hostname().toLowerCase() ? [] : [`--hostname-override ${nodeName}`]),
  ].join(' ')
}

/** A line to copy is never broken, however long it is. */
const toCopy = (label: string, text: string): string =>
  formatFields([[label, text]], {columns: Infinity, width: WIDTH})

const toRead = (label: string, text: string): string =>
  formatFields([[label, text]], {columns: columnsOf(process.stdout), width: WIDTH})

/** A certificate that nothing renews is a machine that drops out of its cluster one day. */
function keepStep({nodeRun}: JoinResult): string {
  if (nodeRun === undefined) {
    return toRead(
      'Keep it:',
      'nothing renews the certificate unless "trustadm node run" or a kubelet runs; to install a systemd unit for it, run the same join command again with --node-run install',
    )
  }
  const start = 'systemctl daemon-reload && systemctl enable --now trustadm-node'
  return nodeRun.isInstalled
    ? toCopy('Keep it:', start)
    : `${toCopy('Keep it:', `write this to ${nodeRun.path}, then run "${start}"`)}\n${nodeRun.content}`
}

/** A machine without a kubelet is a node as well, but not one that runs pods. */
const readiness = (): string =>
  toRead(
    'Ready:',
    'not yet: the Node is NotReady until a kubelet runs on this machine; its certificate works without one',
  )

function nextStep(result: JoinResult): string {
  const {nodeName, certificate, kubeconfig, dir} = result
  if (kubeconfig === null) return ''
  if (certificate !== null) {
    const use = toCopy('Use it:', `kubectl --kubeconfig ${kubeconfig} get node ${nodeName}`)
    return `\n${use}${readiness()}${keepStep(result)}`
  }
  return kubeconfig === nodeFile(dir, 'bootstrapKubeconfig')
    ? `\n${toCopy('Next:', `start the kubelet with ${kubeletFlags(result)}`)}`
    : ''
}

export const joinView: View<JoinResult> = {
  table(result) {
    const columns = columnsOf(process.stdout)
    return [
      `\n${headline(result)}\n\n`,
      formatFields(facts(result), {columns, width: WIDTH, indent: 2}),
      nextStep(result),
    ].join('')
  },
  name: ({nodeName}) => [`node/${nodeName}`],
}
