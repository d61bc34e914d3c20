import type {Machine} from '../../api/machine.ts'
import type {ApiClient} from '../../client/api-client.ts'
import {TrustError} from '../../errors.ts'
import {listServed} from './find.ts'
import {
  TakenNames,
  isAsWanted,
  keyOf,
  machineIn,
  placed,
  problemsOf,
  type InventoryRow,
} from './wanted.ts'

type Client = Pick<ApiClient, 'machines' | 'namespaces' | 'raw'>

/** An inventory that is to be in the cluster. */
export interface Inventory {
  rows: readonly InventoryRow[]
  /** What is wrong with it as a text; each names its line. */
  problems: readonly string[]
  /** The file, for messages; absent for a command line. */
  source?: string | undefined
}

const MOST_REPORTED = 100

export interface Step extends InventoryRow {
  present: Machine | undefined
  action: 'create' | 'complete' | 'keep'
}

/** A run that was interrupted leaves a Machine without addresses. */
function stepFor(row: InventoryRow, present: Machine | undefined): Step | string {
  if (present === undefined) return {...row, present, action: 'create'}
  const {machine, where} = row
  const found = machineIn(present)
  if (isAsWanted(machine, found)) return {...row, present, action: 'keep'}
  const {addresses = []} = present.status ?? {}
  if (addresses.length === 0 && found.providerID === machine.providerID) {
    return {...row, present, action: 'complete'}
  }
  return placed(where, `Machine "${keyOf(machine)}" exists with other names or addresses`)
}

async function missingNamespaces(
  {namespaces}: Client,
  rows: readonly InventoryRow[],
): Promise<string[]> {
  const wheres = new Map(rows.map(({machine, where}) => [machine.namespace, where]))
  const found = await Promise.all(
    Array.from(wheres, async ([name, where]) =>
      (await namespaces.find(name)) === undefined
        ? [placed(where, `there is no namespace "${name}"`)]
        : [],
    ),
  )
  return found.flat()
}

/** Everything that can be known before the first write: a run either starts as a whole or not at all. */
export async function planMachines(
  client: Client,
  {rows, problems, source}: Inventory,
): Promise<Step[]> {
  const taken = new TakenNames()
  const seen = new Set<string>()
  const wrong = [...problems]
  const sound: InventoryRow[] = []
  for (const row of rows) {
    const {machine, where} = row
    const own = problemsOf(machine)
    if (seen.has(keyOf(machine))) own.push(`"${keyOf(machine)}" appears twice`)
    seen.add(keyOf(machine))
    own.push(...taken.add(`"${keyOf(machine)}"`, machine))
    wrong.push(...own.map((problem) => placed(where, problem)))
    if (own.length === 0) sound.push(row)
  }
  const existing = await listServed(client)
  const byKey = new Map(existing.map((one) => [keyOf(machineIn(one)), one]))
  const present = new TakenNames()
  for (const one of existing) {
    const found = machineIn(one)
    if (!seen.has(keyOf(found))) present.add(`Machine "${keyOf(found)}"`, found)
  }
  const steps = sound.map((row) => stepFor(row, byKey.get(keyOf(row.machine))))
  const conflicts = [
    ...steps.filter((step) => typeof step === 'string'),
    ...sound.flatMap(({machine, where}) =>
      present.add(`"${keyOf(machine)}"`, machine).map((problem) => placed(where, problem)),
    ),
    ...(await missingNamespaces(client, sound)),
  ]
  if (wrong.length + conflicts.length > 0) throw refusal([...wrong, ...conflicts])
  return steps.filter((step) => typeof step !== 'string')

  function refusal(all: readonly string[]): TrustError {
    const invalid = source === undefined ? 'USAGE' : 'CONFIG_INVALID'
    const rest = all.length > MOST_REPORTED ? `; and ${all.length - MOST_REPORTED} more` : ''
    const text = all.slice(0, MOST_REPORTED).join('; ') + rest
    return new TrustError(
      wrong.length > 0 ? invalid : 'CONFLICT',
      source === undefined ? text : `${source}: ${text}`,
      {
        facts: {problems: all},
        hints: [
          'nothing was created; "trustadm machine list --output wide" shows the Machines that exist',
        ],
      },
    )
  }
}
