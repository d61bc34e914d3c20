import {joining} from './documented/joining.ts'
import {tryAll} from './documented/try-all.ts'

describe('the commands of the README and of docs/, as they are written, for machines and tokens', function () {
  this.timeout(120_000)
  tryAll(joining)
})
