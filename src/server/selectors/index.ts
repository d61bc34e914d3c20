export {hasFieldTerm, nameOf, parseFieldSelector, selectableFields} from './field-selector.ts'
export type {FieldSelector, FieldTerm, SelectableResource} from './field-selector.ts'
export {compileLabelSelector, matchesLabels, parseLabelSelector} from './label-selector.ts'
export type {LabelSelector, LabelSelectorObject} from './label-selector.ts'
