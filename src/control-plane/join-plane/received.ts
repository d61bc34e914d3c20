import {join} from 'node:path'
import type {CertificateKey} from '../../bootstrap/certificate-key.ts'
import type {ApiClient} from '../../client/api-client.ts'
import type {TrustedClusterInfo} from '../../discovery/cluster-info.ts'
import {elsewhere, hasCode, TrustError} from '../../errors.ts'
import {openEtcdStorage} from '../../storage/etcd/open.ts'
import {DEFAULT_ETCD_PREFIX} from '../../storage/etcd/settings.ts'
import {etcdOf} from '../config/etcd.ts'
import type {Plane} from '../config/plane.ts'
import type {Choices} from '../config/settings.ts'
import {explained} from '../etcd-wait.ts'
import {
  CERTS_SECRET,
  ETCD_FILES,
  openCerts,
  SETTINGS_FILE,
  type SharedFiles,
} from '../shared-certs.ts'
import {parseShared, readUnsealed, type ClaimedStore} from '../shared-settings.ts'
import {requireConsistent} from './received-certs.ts'

const NO_CERTS = [
  elsewhere(
    'upload them with "trustadm init phase upload-certs" on a machine of the control plane: they are deleted after two hours',
  ),
]

const CERTS_KEY = `/registry/core/secrets/${CERTS_SECRET.namespace}/${CERTS_SECRET.name}`
const CLUSTER_KEY = '/registry/core/namespaces/kube-system'

/** What a machine that joins gets from the cluster, checked. */
export interface Received {
  /** The CAs and keys of the control plane. */
  files: SharedFiles
  /** Vouched for by whoever has the certificate key, or too little to do harm. */
  choices: Choices
  /** What only kubeadm-config says: not used without the operator's word. */
  claimed: ClaimedStore
  /** An object of the cluster, by which its store is known. */
  mark: {key: string; uid: string}
}

/** Reads from the cluster, and writes nothing. */
export async function receive(
  client: Pick<ApiClient, 'configMaps' | 'secrets'>,
  key: CertificateKey,
  {ca}: Pick<TrustedClusterInfo, 'ca'>,
): Promise<Received> {
  const secret = await client.secrets.find(CERTS_SECRET)
  if (!secret) {
    const {namespace, name} = CERTS_SECRET
    throw new TrustError('NOT_FOUND', `the cluster has no Secret ${namespace}/${name}`, {
      hints: NO_CERTS,
    })
  }
  const files = new Map(openCerts(secret, key))
  requireConsistent(files, ca)
  const sealed = files.get(SETTINGS_FILE)?.toString()
  files.delete(SETTINGS_FILE)
  if (sealed !== undefined) {
    const {choices, cluster} = parseShared(sealed)
    return {files, choices, claimed: {}, mark: {key: CLUSTER_KEY, uid: cluster}}
  }
  // Uploaded by kubeadm or an earlier release.
  const mark = {key: CERTS_KEY, uid: secret.metadata.uid ?? ''}
  return {files, ...(await readKubeadmConfig(client)), mark}
}

async function readKubeadmConfig({configMaps}: Pick<ApiClient, 'configMaps'>) {
  const key = {namespace: 'kube-system', name: 'kubeadm-config'}
  const found = await configMaps.find(key).catch((error: unknown) => {
    if (hasCode(error, 'FORBIDDEN')) return undefined
    throw error
  })
  return readUnsealed(found?.data)
}

/**
 * The settings with the etcd of the control plane and the files that were received for it. Flags win over what the cluster says. `ask` lets the operator
 * vouch for what nobody else does; without it, that is an error.
 */
export async function withEtcd(
  {files, choices, claimed}: Pick<Received, 'files' | 'choices' | 'claimed'>,
  flags: Choices,
  certDir: string,
  ask?: (question: string) => Promise<boolean>,
): Promise<Choices> {
  const known = {...choices, ...flags}
  const {etcdServers, etcdPrefix = DEFAULT_ETCD_PREFIX} = claimed
  const missing: ClaimedStore = {
    ...(known.etcdServers === undefined && etcdServers && {etcdServers}),
    ...(known.etcdPrefix === undefined && etcdPrefix !== DEFAULT_ETCD_PREFIX && {etcdPrefix}),
  }
  if (known.etcdServers === undefined && etcdServers === undefined) throw notShared()
  if (Object.keys(missing).length > 0 && (await ask?.(`${unvouched(missing)}. Use it?`)) !== true) {
    throw notVouched(missing)
  }
  const received = Object.entries(ETCD_FILES)
    .filter(([, name]) => files.has(name))
    .map(([setting, name]) => [setting, join(certDir, name)])
  return {...choices, ...missing, ...(Object.fromEntries(received) as Choices)}
}

/** With the keys of the CAs, a server on another store would give all power over the cluster to whoever has that. */
export async function requireStoreOf(plane: Plane, {key, uid}: Received['mark']): Promise<void> {
  const etcd = etcdOf(plane.settings)
  if (!etcd) return
  const storage = await openEtcdStorage(etcd, {patience: 5_000}).catch((error: unknown) => {
    throw explained(plane, error)
  })
  try {
    const entry = await storage.get(key)
    const found = entry && (JSON.parse(Buffer.from(entry.value).toString()) as Partial<Stored>)
    if (uid !== '' && found?.metadata?.uid === uid) return
  } finally {
    await storage.close()
  }
  throw new TrustError(
    'CONFLICT',
    `etcd at ${etcd.servers.join(',')} is not the store of this cluster: below ${etcd.prefix}/ it has no ${key} with the UID ${uid}`,
    {hints: ['name the etcd of the other servers with --etcd-servers and --etcd-prefix']},
  )
}

interface Stored {
  metadata: {uid?: string}
}

const unvouched = ({etcdServers, etcdPrefix}: ClaimedStore): string => {
  const says = [etcdServers?.join(','), etcdPrefix && `the prefix ${etcdPrefix}`].filter(Boolean)
  return `only the ConfigMap kube-system/kubeadm-config names the etcd of the control plane, ${says.join(' and ')}: whoever may write ConfigMaps there may have changed it`
}

const notVouched = (missing: ClaimedStore): TrustError => {
  const flags = [
    ...(missing.etcdServers ? ['--etcd-servers'] : []),
    ...(missing.etcdPrefix ? ['--etcd-prefix'] : []),
  ]
  return new TrustError('USAGE', unvouched(missing), {
    hints: [
      `name it as on the other servers with ${flags.join(' and ')}`,
      elsewhere(
        'or upload the CAs again with "trustadm init phase upload-certs" of this release, which encrypts the settings with them',
      ),
    ],
  })
}

const notShared = (): TrustError =>
  new TrustError(
    'CONFLICT',
    'the control plane has the store of one machine, and only that one can have a server: with a store of its own, this machine would be another, empty cluster with the same CAs',
    {
      hints: [
        'a control plane on several machines needs etcd: "trustadm init --etcd-servers URLS"',
        elsewhere(
          'if it has etcd, run "trustadm init" once more on its first machine, which publishes that; or add --etcd-servers and --etcd-prefix',
        ),
      ],
    },
  )
