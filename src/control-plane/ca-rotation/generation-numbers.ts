import type {GenerationNumber, Journal, UnitRecord} from './journal.ts'

type Numbers = Readonly<Record<string, GenerationNumber>>

/** The number of the generation that leaves; 0 for a CA that exists only from this rotation on. */
function oldNumber(recorded: Numbers, {id, separatedFrom, old}: UnitRecord): number {
  const known = recorded[id]
  if (known?.pin === old.pin) return known.number
  return separatedFrom === undefined ? 1 : 0
}

/** What is recorded when a rotation is completed. */
export const numbersAfter = ({generations = {}, units}: Journal): Numbers => ({
  ...generations,
  ...Object.fromEntries(
    units.map((unit) => {
      const number = oldNumber(generations, unit) + 1
      return [unit.id, {pin: unit.new.pin, number}]
    }),
  ),
})

/**
 * Which generation of a CA this is: the first one is 1, and each rotation adds one. Undefined for what is only trusted beside it and did
 * not come by a rotation.
 */
export function generationOf(
  journal: Journal | undefined,
  id: string,
  {pin, signs}: {pin: string; signs: boolean},
): number | undefined {
  const recorded = journal?.generations ?? {}
  if (recorded[id]?.pin === pin) return recorded[id].number
  const unit = journal?.units.find((one) => one.id === id)
  if (pin === unit?.new.pin) return oldNumber(recorded, unit) + 1
  if (pin === unit?.old.pin) return oldNumber(recorded, unit) || undefined
  return signs ? 1 : undefined
}
