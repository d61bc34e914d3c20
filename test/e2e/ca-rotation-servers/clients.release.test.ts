import {describeWithEtcd, startEtcd} from '../../helpers/etcd.ts'
import {startSeveral} from '../../helpers/several-servers.ts'
import {itKeepsClientsAtWork} from './many-clients.ts'
import {accessTo, untilSame} from './support.ts'

describeWithEtcd('500 clients of three servers that work while the CAs rotate', function () {
  this.timeout(600_000)

  itKeepsClientsAtWork(async () => {
    const etcd = await startEtcd()
    const {machines, first, stop} = await startSeveral(3, [
      '--etcd-servers',
      etcd.servers.join(','),
    ])
    return {
      servers: machines.map((one) => ({dir: one.dir, access: () => accessTo(one, one)})),
      token: first.token ?? '',
      stop: async () => {
        await stop()
        await etcd.stop()
      },
      check: () => untilSame(machines),
    }
  })
})
