import {controlPlane} from './documented/control-plane.ts'
import {tryAll} from './documented/try-all.ts'

describe('the commands of the README and of docs/, as they are written, for the control plane', function () {
  this.timeout(120_000)
  tryAll(controlPlane)
})
