import type {ResetPlan, ResetReport} from '../../control-plane/reset.ts'
import type {View} from '../output.ts'
import {plannedUnit, unitLines} from './units.ts'

const lines = (texts: readonly string[]): string => texts.map((text) => `${text}\n`).join('')

export const resetPlanView: View<ResetPlan> = {
  table: ({server, unit, files, kept}) =>
    lines([
      ...(server === undefined ? [] : [`would stop the server (process ${server.pid})`]),
      ...(unit ? [plannedUnit(unit)] : []),
      ...files.map((file) => `would remove ${file}`),
      ...kept.map((file) => `would keep ${file}: trustadm did not create it, or it was changed`),
    ]),
  name: ({files}) => files,
}

export const resetView: View<ResetReport> = {
  table: ({stopped, unit, removed, kept}) =>
    lines([
      ...(stopped === null ? [] : [`stopped the server (process ${stopped})`]),
      `removed ${removed.length} ${removed.length === 1 ? 'file' : 'files'}`,
      ...(unit ? unitLines(unit) : []),
      ...kept.map((path) => `kept ${path}: trustadm did not create it`),
    ]),
  name: ({removed}) => removed,
}
