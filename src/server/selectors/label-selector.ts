import type * as api from '../../api/meta.ts'
import {badRequest} from '../kernel/status.ts'
import {SelectorSyntaxError, parseRequirements} from './label-parser.ts'
import {compileRequirement} from './requirement.ts'
import type {LabelOperator, Labels, LabelTest, Requirement} from './requirement.ts'

/** A compiled label selector: parsed once for a list or a watch, then applied to every object. */
export interface LabelSelector {
  readonly requirements: readonly Requirement[]
  /** It selects everything. */
  readonly empty: boolean
  readonly matches: LabelTest
}

const NO_LABELS: Labels = {}
const EVERYTHING: LabelSelector = {requirements: [], empty: true, matches: () => true}
const NOTHING: LabelSelector = {requirements: [], empty: false, matches: () => false}

function compile(requirements: Requirement[]): LabelSelector {
  if (requirements.length === 0) return EVERYTHING
  const tests = requirements.map(compileRequirement)
  const [only] = tests
  const matches: LabelTest =
    only !== undefined && tests.length === 1
      ? only
      : (labels) => tests.every((test) => test(labels))
  return {requirements, empty: false, matches}
}

/** Parses the labelSelector parameter. Throws BadRequest with the words of Kubernetes' labels.Parse. */
export function parseLabelSelector(text: string): LabelSelector {
  if (text === '') return EVERYTHING
  try {
    return compile(parseRequirements(text))
  } catch (error) {
    throw error instanceof SelectorSyntaxError ? badRequest(error.message) : error
  }
}

const OBJECT_OPERATORS: Record<string, LabelOperator> = {
  In: 'in',
  NotIn: 'notin',
  Exists: 'exists',
  DoesNotExist: '!',
}

/** As LabelSelectorAsSelector: an absent selector selects nothing, an empty one everything. */
export function compileLabelSelector(selector: api.LabelSelector | undefined): LabelSelector {
  if (selector === undefined) return NOTHING
  const {matchLabels = {}, matchExpressions = []} = selector
  return compile([
    ...Object.entries(matchLabels).map(([key, value]): Requirement => ({
      key,
      operator: '=',
      values: [value],
    })),
    ...matchExpressions.map(({key, operator, values = []}): Requirement => {
      const known = Object.hasOwn(OBJECT_OPERATORS, operator)
        ? OBJECT_OPERATORS[operator]
        : undefined
      if (known !== undefined) return {key, operator: known, values}
      throw badRequest(`${JSON.stringify(operator)} is not a valid label selector operator`)
    }),
  ])
}

/** Whether an object's labels, which may be absent, are selected. */
export const matchesLabels = (selector: LabelSelector, labels: Labels | undefined): boolean =>
  selector.matches(labels ?? NO_LABELS)
