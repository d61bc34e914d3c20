import type {Plan, PlannedChange} from '../../phases.ts'
import {columnsOf, paragraph} from '../layout.ts'
import type {View} from '../output.ts'

const lineOf = ({phase, change}: PlannedChange): string =>
  paragraph(`[${phase}] `, `would ${change}`, columnsOf(process.stdout))

/** What a dry run of `init` or `join` prints. */
export const planView: View<Plan> = {
  table({changes}) {
    return changes.length === 0 ? 'nothing to change\n' : changes.map(lineOf).join('')
  },

  name({changes}) {
    return changes.map(({phase}) => phase)
  },
}
