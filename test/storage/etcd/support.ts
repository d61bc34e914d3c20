import type {EtcdCluster} from '../../helpers/etcd.ts'

async function call(cluster: EtcdCluster, path: string, body: object): Promise<void> {
  const response = await fetch(`${cluster.servers[0] ?? ''}/v3/${path}`, {
    method: 'POST',
    body: JSON.stringify(body),
  })
  const text = await response.text()
  if (response.status !== 200) throw new Error(text)
}

const base64 = (text: string) => Buffer.from(text).toString('base64')

/** Another program writes a key. */
export const putForeign = (cluster: EtcdCluster, key: string): Promise<void> =>
  call(cluster, 'kv/put', {key: base64(key), value: base64('foreign')})

export const compactEtcd = (cluster: EtcdCluster, revision: number): Promise<void> =>
  call(cluster, 'kv/compaction', {revision: String(revision)})

/** Deletes all keys that begin so. */
export const deleteBelow = (cluster: EtcdCluster, start: string): Promise<void> =>
  call(cluster, 'kv/deleterange', {key: base64(start), range_end: base64(`${start}~`)})
