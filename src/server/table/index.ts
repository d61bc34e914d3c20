export {ageOf, humanDuration, shortHumanDuration} from './human-duration.ts'
export {negotiate, negotiatePlain} from './negotiate.ts'
export type {MetaVersion, Representation} from './negotiate.ts'
export {partialList, partialObject, requirePartialFits} from './partial.ts'
export type {PartialList, PartialObject} from './partial.ts'
export {
  columnDefinitions,
  includeObjectOf,
  tableOfEvent,
  tableOfList,
  tableOfObject,
  tableRow,
} from './table.ts'
export type {ColumnDefinition, IncludeObject, Table, TableOptions, TableRow} from './table.ts'
