import type {Forgotten} from '../../node/forget-node.ts'
import type {LeaveReport} from '../../node/leave.ts'
import type {NodeFolder} from '../../node/node-folder.ts'
import type {InstalledUnit} from '../../node/systemd-unit.ts'
import {columnsOf, paragraph} from '../layout.ts'
import type {View} from '../output.ts'
import {plannedUnit, unitLines} from './units.ts'

/** Commands, which are indented, are not broken: they are copied. */
const lines = (texts: readonly string[]): string =>
  texts
    .map((text) =>
      text.startsWith(' ') ? `${text}\n` : paragraph('', text, columnsOf(process.stdout)),
    )
    .join('')

const NOT_OURS = 'it is not what trustadm has recorded that it made'

export const leavePlanView: View<NodeFolder & {unit: InstalledUnit | null}> = {
  table: ({nodeName, files, foreign, unit}) =>
    lines([
      ...(nodeName === undefined ? [] : [`would delete the Node "${nodeName}", if allowed`]),
      ...(unit ? [plannedUnit(unit)] : []),
      ...files.map((file) => `would remove ${file}`),
      ...foreign.map((file) => `would keep ${file}: ${NOT_OURS}`),
    ]),
  name: ({files}) => files,
}

const rejoinLines = (name: string, {rejoin}: Forgotten): string[] =>
  rejoin === null
    ? []
    : [
        `the name "${name}" stays taken; before a machine joins with it again, run this there:`,
        `  ${rejoin}`,
      ]

function clusterLines(name: string, {node, record, reason, commands}: Forgotten): string[] {
  const what = `the Node "${name}"`
  if (reason === null) {
    return [
      node === 'absent' && record === 'absent' ? `${what} was gone already` : `deleted ${what}`,
    ]
  }
  return [
    `${node === 'kept' ? what : `the record of "${name}"`} is still in the cluster: ${reason}`,
    ...(commands.length === 0 ? [] : ['to delete it, run this on the control plane:']),
    ...commands.map((command) => `  ${command}`),
  ]
}

export const leaveView: View<LeaveReport> = {
  table: ({nodeName, cluster, unit, removed, kept}) =>
    lines([
      `removed ${removed.length} ${removed.length === 1 ? 'file' : 'files'}`,
      ...kept.map((path) => `kept ${path}: ${NOT_OURS}`),
      ...(unit ? unitLines(unit) : []),
      ...(cluster && nodeName !== null
        ? [...clusterLines(nodeName, cluster), ...rejoinLines(nodeName, cluster)]
        : []),
    ]),
  name: ({nodeName}) => (nodeName === null ? [] : [`node/${nodeName}`]),
}
