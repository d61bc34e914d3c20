import type {EtcdStorage} from '../../storage/etcd/etcd.ts'
import {openEtcdStorage} from '../../storage/etcd/open.ts'
import type {EtcdSettings} from '../../storage/etcd/settings.ts'
import type {Tell} from '../exclusive.ts'

/** Says first what it waits for: an etcd that does not respond is tried for seconds. */
export async function openEtcd(etcd: EtcdSettings, tell: Tell): Promise<EtcdStorage> {
  tell(`connecting to etcd at ${etcd.servers.join(', ')}`)
  return await openEtcdStorage(etcd, {tell})
}
