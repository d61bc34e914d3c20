import {itEmbedded} from '../../helpers/on-etcd.ts'
import {placeholders} from './placeholders.ts'
import {Stage} from './stage.ts'
import type {Step} from './step.ts'

/** Commands build on each other, in the order of their list. */
export function tryAll(steps: readonly Step[], kubectl?: string): void {
  let stage: Stage
  before(async () => (stage = await Stage.start(placeholders, kubectl)))
  after(() => stage.stop())
  for (const {command, needsEmbedded, try: attempt} of steps) {
    const test = needsEmbedded ? itEmbedded : it
    test(command, () => attempt(stage))
  }
}
