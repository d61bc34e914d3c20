import type {RotationReport} from '../../control-plane/ca-rotation/report.ts'
import {columnsOf, paragraph} from '../layout.ts'
import {formatColumns} from '../columns.ts'
import type {View} from '../output.ts'

const MARKS = {done: '✔', running: '…', waiting: ' '} as const

function headline({credentials, action, isReady}: RotationReport): string {
  const {phase, lastInitiation, lastCompletion} = credentials.rotation.certificateAuthorities ?? {}
  const last = lastCompletion === undefined ? '' : `; last completed ${lastCompletion}`
  if (action === undefined) {
    return lastInitiation === undefined
      ? 'The CAs were never rotated.\n'
      : `No rotation is in progress${phase === undefined ? '; the last one was aborted' : last}.\n`
  }
  const state = isReady ? 'ready for "trustadm ca rotate complete"' : `${action} is not finished`
  return `Phase ${phase ?? ''}, started ${lastInitiation ?? ''}${last}: ${state}.\n`
}

function formatSteps({steps}: RotationReport): string {
  return steps.length === 0
    ? ''
    : `\n${steps.map(({summary, state}) => `${MARKS[state]} ${summary}\n`).join('')}`
}

function formatDependents({dependents}: RotationReport): string {
  if (dependents.length === 0) return ''
  const rows = dependents.map(({kind, name, lastSeen, reasons}) => [
    kind,
    name,
    lastSeen ?? '<unknown>',
    reasons.join('; '),
  ])
  const table = formatColumns(['KIND', 'NAME', 'LAST SEEN', 'WHY'], rows, {least: new Map()})
  const todos = [...new Set(dependents.map(({todo}) => todo))]
    .slice(0, 20)
    .map((todo) => paragraph('→ ', todo, columnsOf(process.stdout)))
  return `\nThese would be locked out:\n\n${table}\n${todos.join('')}`
}

function formatAuthorities({authorities}: RotationReport): string {
  if (authorities.length === 0) return ''
  const rows = authorities.map(({id, old, new: next}) => [id, old.pin, next.pin || '<not yet>'])
  return `\n${formatColumns(['CA', 'OLD', 'NEW'], rows, {
    least: new Map([
      [1, 15],
      [2, 15],
    ]),
  })}`
}

/** How people see the state of a rotation. */
export const rotationView: View<RotationReport> = {
  table: (report) =>
    headline(report) +
    formatSteps(report) +
    formatAuthorities(report) +
    formatDependents(report) +
    report.advice.map((line) => `\n${paragraph('', line, columnsOf(process.stdout))}`).join(''),
  name: ({authorities}) => authorities.map(({id}) => id),
}
