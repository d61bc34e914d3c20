import {readInventory} from '../control-plane/machines/inventory.ts'
import type {Inventory} from '../control-plane/machines/plan.ts'
import {TrustError} from '../errors.ts'
import {readInput} from './input-file.ts'

const LARGEST_MEBIBYTES = 4

/** The inventory in a file, with what is wrong with it. */
export async function inventoryIn(file: string, namespace: string): Promise<Inventory> {
  const {text, source} = await readInput(file, LARGEST_MEBIBYTES)
  return readInventory(text, source, namespace)
}

export const noMachineNamed = (): TrustError =>
  new TrustError('USAGE', 'no machine was named', {
    hints: ['pass the name of a machine, or an inventory with --filename'],
  })

/** The machines on a command line, or those of an inventory. The rest of its fields does not matter. */
export async function machineNamesOf(
  words: readonly string[],
  {filename, namespace}: {filename?: string | undefined; namespace: string},
): Promise<readonly string[]> {
  if (filename === undefined) {
    if (words.length === 0) throw noMachineNamed()
    return words
  }
  if (words.length > 0) {
    throw new TrustError('USAGE', 'names and --filename cannot be used together', {
      hints: ['leave one of them out'],
    })
  }
  const {rows, problems} = await inventoryIn(filename, namespace)
  if (problems.length > 0) throw unreadable(filename, problems)
  return rows.map(({machine}) => `${machine.namespace}/${machine.name}`)
}

const MOST_REPORTED = 100

function unreadable(file: string, problems: readonly string[]): TrustError {
  const left = problems.length - MOST_REPORTED
  const rest = left > 0 ? `; and ${left} more` : ''
  const text = problems.slice(0, MOST_REPORTED).join('; ') + rest
  return new TrustError('CONFIG_INVALID', `${file}: ${text}`, {
    facts: {problems},
    hints: ['nothing was changed; correct the inventory and run the command again'],
  })
}
