import assert from 'node:assert/strict'
import {describeWithKubectl} from '../helpers/clients.ts'
import {clusters} from './documented/clusters.ts'
import {documentedCommands} from './documented/commands.ts'
import {besideTheServer, controlPlane} from './documented/control-plane.ts'
import {EXCUSED} from './documented/excused.ts'
import {fleet} from './documented/fleet.ts'
import {joining} from './documented/joining.ts'
import {withKubectl} from './documented/kubectl.ts'
import {requests, whileOthersWait} from './documented/requests.ts'
import {tryAll} from './documented/try-all.ts'

const ALL = [
  ...joining,
  ...requests,
  ...whileOthersWait,
  ...fleet,
  ...clusters,
  ...controlPlane,
  ...besideTheServer,
  ...withKubectl,
]

describe('the commands of the README and of docs/', () => {
  it('are all tried as they are written, or excused with a reason', () => {
    const tried = ALL.map(({command}) => command)
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
