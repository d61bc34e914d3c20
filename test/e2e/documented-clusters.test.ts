import {clusters} from './documented/clusters.ts'
import {tryAll} from './documented/try-all.ts'

describe('the commands of the README and of docs/, as they are written, for other clusters', function () {
  this.timeout(120_000)
  tryAll(clusters)
})
