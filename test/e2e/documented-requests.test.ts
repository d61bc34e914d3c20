import {requests} from './documented/requests.ts'
import {tryAll} from './documented/try-all.ts'

describe('the commands of the README and of docs/, as they are written, for certificates on request', function () {
  this.timeout(120_000)
  tryAll(requests)
})
