import type {CreatedMachine, CreatedMachines} from '../../control-plane/machines/create.ts'
import type {ChangedMachine, DeletedMachines} from '../../control-plane/machines/delete.ts'
import type {MachineKey} from '../../control-plane/machines/find.ts'
import type {MachineList, MachineReport} from '../../control-plane/machines/list.ts'
import type {RenewedMachines} from '../../control-plane/machines/renew.ts'
import {ageOf} from '../../server/table/human-duration.ts'
import {formatColumns, type Narrowing} from '../columns.ts'
import {columnsOf, paragraph} from '../layout.ts'
import type {View} from '../output.ts'
import {shown, shownList, shownValue} from './requests-text.ts'

const COLUMNS = ['NAME', 'STATE', 'NODE', 'EXPECTED UNTIL', 'DNS', 'AGE']
const WIDE_COLUMNS = ['NAMESPACE', 'ADDRESSES', 'PROVIDER ID']
const [NAME, NODE, UNTIL, DNS] = [0, 2, 3, 4] as const
const NARROWING: Narrowing = {
  least: new Map([[DNS, 10]]),
  droppable: [DNS, UNTIL],
  last: {
    least: new Map([
      [NAME, 20],
      [NODE, 20],
    ]),
  },
}
const AS_WIDE_AS_NEEDED: Narrowing = {least: new Map()}

const orNone = (text: string | null): string => (text ? shownValue(text) : '<none>')

const row = (one: MachineReport, now: Date): string[] => [
  shown(one.name),
  one.state,
  orNone(one.node),
  one.expectedUntil ?? '<unknown>',
  shownList(one.dns),
  ageOf(one.created, now),
]

const wideRow = (one: MachineReport, now: Date): string[] => [
  ...row(one, now),
  shown(one.namespace),
  shownList(one.addresses),
  orNone(one.providerID),
]

const named = ({namespace, name}: MachineKey): string => `${shown(namespace)}/${shown(name)}`
const namesOf = (machines: readonly MachineKey[]): string[] => machines.map(named)

/** The inventory, as the approver sees it. */
export const machineListView = (isWide: boolean, now: Date): View<MachineList> => ({
  table: ({machines}) =>
    isWide
      ? formatColumns(
          [...COLUMNS, ...WIDE_COLUMNS],
          machines.map((one) => wideRow(one, now)),
          AS_WIDE_AS_NEEDED,
        )
      : formatColumns(
          COLUMNS,
          machines.map((one) => row(one, now)),
          NARROWING,
        ),
  name: ({machines}) => namesOf(machines),
})

const failedLine = (one: MachineKey & {error?: string}): string =>
  paragraph(`machine "${named(one)}" failed: `, shown(one.error ?? ''), columnsOf(process.stdout))

function createdLine(one: CreatedMachine, isDryRun: boolean): string {
  if (one.result === 'failed') return failedLine(one)
  const machine = `machine "${named(one)}"`
  if (isDryRun && one.result !== 'unchanged') {
    return `would ${one.result === 'created' ? 'create' : 'complete'} ${machine}\n`
  }
  const until = one.expectedUntil === null ? '' : `, expected until ${one.expectedUntil}`
  return `${machine} ${one.result}${until}\n`
}

/** Whether a command that works on several machines has to end with an error. */
export const isIncomplete = ({machines}: {machines: readonly {result: string}[]}): boolean =>
  machines.some(({result}) => result === 'failed' || result === 'skipped')

export const createdMachinesView: View<CreatedMachines> = {
  table: ({machines, dryRun}) => machines.map((one) => createdLine(one, dryRun)).join(''),
  name: ({machines}) => namesOf(machines),
}

const changedLine = (one: ChangedMachine, done: string): string =>
  one.result === 'failed' ? failedLine(one) : done

export const deletedMachinesView: View<DeletedMachines> = {
  table: ({machines, dryRun}) =>
    machines
      .map((one) =>
        changedLine(
          one,
          dryRun ? `would delete machine "${named(one)}"\n` : `machine "${named(one)}" deleted\n`,
        ),
      )
      .join(''),
  name: ({machines}) => namesOf(machines.filter(({result}) => result !== 'failed')),
}

export const renewedMachinesView: View<RenewedMachines> = {
  table: ({machines}) =>
    machines
      .map((one) =>
        changedLine(
          one,
          `machine "${named(one)}" renewed, expected until ${one.expectedUntil ?? '<unknown>'}\n`,
        ),
      )
      .join(''),
  name: ({machines}) => namesOf(machines.filter(({result}) => result !== 'failed')),
}
