import {fleet} from './documented/fleet.ts'
import {tryAll} from './documented/try-all.ts'

describe('the commands of the README and of docs/, as they are written, for a fleet', function () {
  this.timeout(120_000)
  tryAll(fleet)
})
