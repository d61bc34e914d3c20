import {valuesOf} from '../kernel/json-value.ts'
import {MalformedError} from './decode-error.ts'

/** For one list or map. Kubernetes has no such limit, but none of its objects comes near it. */
const MOST_ITEMS = 10_000
/** For all lists, maps and free-form values of an object together. */
const MOST_VALUES = 25_000
/** Free-form values are later cloned and written recursively. */
const MOST_DEPTH = 200
/** How much of a key is shown in a path. */
export const MOST_STEP = 256

/** Counts the values of one object while it is decoded, which limits the work of all later steps. */
export class ValueBudget {
  #left = MOST_VALUES

  /** The items of a list, or the entries of a map. */
  takeItems(count: number, path: readonly string[]): void {
    if (count > MOST_ITEMS)
      refuse(path, `Too many: ${count}: must have at most ${MOST_ITEMS} items`)
    this.#take(count, path)
  }

  /** A value without a schema: everything in it counts. Returns the value. */
  takeFreeForm(root: unknown, path: readonly string[]): unknown {
    let level: unknown[] = [root]
    for (let depth = 0; level.length > 0; depth += 1) {
      if (depth > MOST_DEPTH) throw new MalformedError('exceeded max depth')
      this.#take(level.length, path)
      level = level.flatMap(valuesOf)
    }
    return root
  }

  #take(count: number, path: readonly string[]): void {
    this.#left -= count
    if (this.#left < 0) refuse(path, `Too many: an object must have at most ${MOST_VALUES} values`)
  }
}

function refuse(path: readonly string[], why: string): never {
  throw new MalformedError(`${path.join('').slice(1)}: ${why}`)
}
