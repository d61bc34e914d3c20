import assert from 'node:assert/strict'
import {describeWithKubectl} from '../helpers/clients.ts'
import {documentedCommands} from './documented/commands.ts'
import {besideTheServer, controlPlane} from './documented/control-plane.ts'
import {EXCUSED} from './documented/excused.ts'
import {fleet} from './documented/fleet.ts'
import {joining} from './documented/joining.ts'
import {withKubectl} from './documented/kubectl.ts'
import {placeholders} from './documented/placeholders.ts'
import {requests, whileOthersWait} from './documented/requests.ts'
import {Stage} from './documented/stage.ts'
import type {Step} from './documented/step.ts'

const SCENES: Record<string, Step[]> = {
  'for machines and tokens': joining,
  'for certificates on request': requests,
  'for a fleet': fleet,
  'for the control plane': controlPlane,
}

/** Commands build on each other, in the order of their list. */
function tryAll(steps: readonly Step[], kubectl?: string): void {
  let stage: Stage
  before(async () => (stage = await Stage.start(placeholders, kubectl)))
  after(() => stage.stop())
  for (const {command, try: attempt} of steps) it(command, () => attempt(stage))
}

describe('the commands of the README and of docs/, as they are written', function () {
  this.timeout(120_000)
  for (const [name, steps] of Object.entries(SCENES)) describe(name, () => tryAll(steps))

  it('are all here, or in the list of those that cannot be, with a reason', () => {
    const steps = [...Object.values(SCENES), whileOthersWait, besideTheServer, withKubectl].flat()
    const tried = steps.map(({command}) => command)
    // In a sentence, the beginning of a command names it: `trustadm join`.
    const isKnown = (command: string) =>
      command in EXCUSED || tried.some((one) => one === command || one.startsWith(`${command} `))
    const documented = documentedCommands()
    assert.deepEqual(
      documented.filter(({command}) => !isKnown(command)),
      [],
    )
    const written = new Set(documented.map(({command}) => command))
    const gone = [...tried, ...Object.keys(EXCUSED)].filter((command) => !written.has(command))
    assert.deepEqual(gone, [])
  })
})

describeWithKubectl('1.36', 'the commands of the documentation', function (kubectl) {
  this.timeout(120_000)
  tryAll(withKubectl, kubectl)
})
