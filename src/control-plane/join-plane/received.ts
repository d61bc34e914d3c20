import {join} from 'node:path'
import type {CertificateKey} from '../../bootstrap/certificate-key.ts'
import type {ApiClient} from '../../client/api-client.ts'
import type {TrustedClusterInfo} from '../../discovery/cluster-info.ts'
import {elsewhere, hasCode, TrustError} from '../../errors.ts'
import {parseConfigFile, type FileChoices} from '../config/config-file.ts'
import {OURS} from '../config/config-kinds.ts'
import type {Choices} from '../config/settings.ts'
import {CERTS_SECRET, ETCD_FILES, openCerts, type SharedFiles} from '../shared-certs.ts'
import {requireConsistent} from './received-certs.ts'

const NO_CERTS = [
  elsewhere(
    'upload them with "trustadm init phase upload-certs" on a machine of the control plane: they are deleted after two hours',
  ),
]

/** The CAs and keys of the control plane, checked. Reads from the cluster, and writes nothing. */
export async function receiveCerts(
  client: Pick<ApiClient, 'secrets'>,
  key: CertificateKey,
  {ca}: Pick<TrustedClusterInfo, 'ca'>,
): Promise<SharedFiles> {
  const secret = await client.secrets.find(CERTS_SECRET)
  if (!secret) {
    const {namespace, name} = CERTS_SECRET
    throw new TrustError('NOT_FOUND', `the cluster has no Secret ${namespace}/${name}`, {
      hints: NO_CERTS,
    })
  }
  const files = openCerts(secret, key)
  requireConsistent(files, ca)
  return files
}

/** What all machines of the control plane have in common, from kubeadm-config; folders and addresses are each machine's own. */
export async function receiveSettings({
  configMaps,
}: Pick<ApiClient, 'configMaps'>): Promise<FileChoices | undefined> {
  const key = {namespace: 'kube-system', name: 'kubeadm-config'}
  const found = await configMaps.find(key).catch((error: unknown) => {
    if (hasCode(error, 'FORBIDDEN')) return undefined
    throw error
  })
  const documents = [found?.data?.ClusterConfiguration, found?.data?.[OURS.kind]]
  const texts = documents.filter((text) => text !== undefined)
  if (texts.length === 0) return undefined
  const file = parseConfigFile(texts.join('\n---\n'), 'kubeadm-config')
  const {certificatesDir: _, ...choices} = file.choices
  return {...file, choices}
}

/** The etcd of the control plane, with the files that were received for it. Flags win over what the cluster says. */
export function withEtcd(
  {etcdCaFile: _ca, etcdCertFile: _certificate, etcdKeyFile: _key, ...common}: Choices,
  flags: Choices,
  files: SharedFiles,
  certDir: string,
): Choices {
  if ((flags.etcdServers ?? common.etcdServers) === undefined) throw notShared()
  const received = Object.entries(ETCD_FILES)
    .filter(([, name]) => files.has(name))
    .map(([setting, name]) => [setting, join(certDir, name)])
  return {...common, ...(Object.fromEntries(received) as Choices)}
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
