import {systemClock, type Clock} from '../runtime.ts'
import {EMBEDDED_CONTROLLERS, type ControllerTable, type EmbeddedDeps} from './catalog.ts'
import {
  startController,
  whenAll,
  type ControllerSpec,
  type OnControllerError,
  type RunningController,
} from './kernel/controller.ts'

export type {OnControllerError} from './kernel/controller.ts'

export interface ControllerDeps extends Omit<EmbeddedDeps, 'clock'> {
  clock?: Clock
  /** Which controllers to run; absent: all. */
  controllers?: readonly string[] | undefined
  onError: OnControllerError
  /** They read what they watch at once, and reconcile from then on; absent: at once. */
  begin?: Promise<void> | undefined
}

export interface RunningControllers {
  synced: Promise<void>
  close(): Promise<void>
}

/** Creates the selected controllers of a table that have everything they need. */
export function controllersOf<Deps>(
  table: ControllerTable<Deps>,
  deps: Deps,
  chosen: readonly string[] = Object.keys(table),
): ControllerSpec[] {
  return Object.entries(table)
    .filter(([name]) => chosen.includes(name))
    .map(([, {create}]) => create(deps))
    .filter((spec) => spec !== undefined)
}

export function startAll(
  specs: readonly ControllerSpec[],
  onError: OnControllerError,
  begin?: Promise<void>,
): RunningControllers {
  const running: RunningController[] = specs.map((spec) => startController(spec, onError, begin))
  return {
    synced: whenAll(running),
    async close() {
      await Promise.all(running.map((controller) => controller.close()))
    },
  }
}

/** The controllers of the embedded control plane that a choice switches off: none if there is no choice, undefined if nothing runs. */
export function switchedOff(chosen?: readonly string[]): string[] | undefined {
  if (chosen?.length === 0) return undefined
  return chosen ? Object.keys(EMBEDDED_CONTROLLERS).filter((name) => !chosen.includes(name)) : []
}

/** The controllers of the embedded control plane. */
export function startControllers(deps: ControllerDeps): RunningControllers {
  const {clock = systemClock, controllers, onError, begin} = deps
  const embedded = {
    ...deps,
    clock,
    revocations: deps.reader.configMaps,
    tokens: deps.reader.secrets,
  }
  return startAll(controllersOf(EMBEDDED_CONTROLLERS, embedded, controllers), onError, begin)
}
