import {resolveAccess} from '../../src/client/kubeconfig-access.ts'
import {loadKubeconfig} from '../../src/client/kubeconfig-files.ts'
import {startCluster} from '../helpers/cluster.ts'
import {itKeepsClientsAtWork} from './ca-rotation-servers/many-clients.ts'

describe('500 clients that work while the CAs rotate', function () {
  this.timeout(240_000)

  itKeepsClientsAtWork(async () => {
    const {dir, token, kubeconfig, stop} = await startCluster()
    const access = async () => resolveAccess(await loadKubeconfig(kubeconfig))
    return {servers: [{dir, access}], token, stop}
  })
})
