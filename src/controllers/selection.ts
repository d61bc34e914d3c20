import {didYouMean} from '../closest.ts'
import {TrustError} from '../errors.ts'
import type {ControllerTable} from './catalog.ts'

const EVERY = '*'
const NONE = 'none'

const known = (table: ControllerTable<never>): string => Object.keys(table).join(', ')

/** The controller that a word of the list names; kube-controller-manager's names are accepted too. */
function nameOf(table: ControllerTable<never>, word: string): string {
  const found = Object.entries(table).find(
    ([name, {aliases}]) => name === word || aliases.includes(word),
  )
  if (found) return found[0]
  const names = Object.entries(table).flatMap(([name, {aliases}]) => [name, ...aliases])
  throw new TrustError('USAGE', `there is no controller "${word}"`, {
    hints: [...didYouMean(word, names), `the controllers are ${known(table)}`],
  })
}

/**
 * Which controllers of a table a list selects, as kube-controller-manager's --controllers: `*` for all, a name for one,
 * `-name` to exclude one. The first word about a controller decides. If allowed, `none` alone selects no controller.
 */
export function selectControllers(
  table: ControllerTable<never>,
  list: readonly string[],
  {mayBeNone = false} = {},
): string[] {
  const words = list.map((word) => word.trim()).filter((word) => word !== '')
  if (mayBeNone && words.length === 1 && words[0] === NONE) return []
  const choices = new Map<string, boolean>()
  let others = false
  for (const word of words) {
    if (word === EVERY) {
      others = true
      continue
    }
    const isWanted = !word.startsWith('-')
    const name = nameOf(table, isWanted ? word : word.slice(1))
    if (!choices.has(name)) choices.set(name, isWanted)
  }
  if (!others && ![...choices.values()].includes(true)) {
    throw new TrustError('USAGE', 'the list names no controller to run', {
      hints: [
        'begin it with "*" for all but those with a minus, as in "*,-csr-signer"',
        `the controllers are ${known(table)}`,
      ],
    })
  }
  return Object.keys(table).filter((name) => choices.get(name) ?? others)
}
