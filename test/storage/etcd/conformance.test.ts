import {randomUUID} from 'node:crypto'
import {openEtcdStorage} from '../../../src/storage/etcd/open.ts'
import {describeWithEtcd, startEtcd, type EtcdCluster} from '../../helpers/etcd.ts'
import {storageConformance} from '../conformance.ts'
import {putForeign, compactEtcd} from './support.ts'

for (const members of [1, 3]) {
  describeWithEtcd(members === 1 ? 'one member' : 'three members', function () {
    this.timeout(20_000)
    let cluster: EtcdCluster

    before(async () => {
      cluster = await startEtcd({members})
    })
    after(() => cluster.stop())

    storageConformance('etcd', async () => {
      const settings = {servers: cluster.servers, prefix: `/test/${randomUUID()}`}
      // Beside our keys, before and after them in order.
      await putForeign(cluster, `${settings.prefix}!`)
      await putForeign(cluster, `${settings.prefix}0`)
      const storage = await openEtcdStorage(settings)
      const other = await openEtcdStorage(settings)
      return {
        storage,
        other,
        compact: (revision) => compactEtcd(cluster, revision),
        largest: 1_500_000,
        dispose: () => other.close(),
      }
    })
  })
}
