import type {Which} from './generations.ts'
import type {UnitRecord} from './journal.ts'

/** What the CAs of a generation are known by. */
export interface GenerationParts {
  pins: ReadonlySet<string>
  keyIds: ReadonlySet<string>
  fingerprints: ReadonlySet<string>
}

const values = (all: readonly (string | undefined)[]): Set<string> =>
  new Set(all.filter((one): one is string => one !== undefined && one !== ''))

/** Everything in the file of a generation, without what the other generation has too. Empty if the unit does not rotate. */
export function partsOf(units: readonly UnitRecord[], id: string, on: Which): GenerationParts {
  const unit = units.find((one) => one.id === id)
  const all = (which: Which) => (unit ? [unit[which], ...(unit[which].others ?? [])] : [])
  const stays = new Set(all(on === 'old' ? 'new' : 'old').map(({pin}) => pin))
  const leaving = all(on).filter(({pin}) => !stays.has(pin))
  return {
    pins: values(leaving.map(({pin}) => pin)),
    keyIds: values(leaving.map(({keyId}) => keyId)),
    fingerprints: values(leaving.map(({fingerprint}) => fingerprint)),
  }
}
