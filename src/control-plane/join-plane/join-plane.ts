import type {CertificateKey} from '../../bootstrap/certificate-key.ts'
import type {ApiClient} from '../../client/api-client.ts'
import type {TrustedClusterInfo} from '../../discovery/cluster-info.ts'
import {TrustError, hasCode} from '../../errors.ts'
import type {PhaseObserver} from '../../phases.ts'
import {parseConfigFile, type FileChoices} from '../config/config-file.ts'
import {certDirOf, type Plane} from '../config/plane.ts'
import {savePlane} from '../config/stored.ts'
import {exclusively} from '../exclusive.ts'
import {certs} from '../init/certs.ts'
import {kubeconfig} from '../init/kubeconfig.ts'
import type {InitContext} from '../init/phase.ts'
import {notesMade} from '../made-files.ts'
import {CERTS_SECRET, openCerts, type SharedFiles} from '../shared-certs.ts'
import {requireConsistent, requireNoOther, writeReceived} from './received-certs.ts'

const NO_CERTS = [
  'upload them with "trustadm init phase upload-certs" on a machine of the control plane: they are deleted after two hours',
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
export async function commonSettings({
  configMaps,
}: Pick<ApiClient, 'configMaps'>): Promise<FileChoices | undefined> {
  const key = {namespace: 'kube-system', name: 'kubeadm-config'}
  const found = await configMaps.find(key).catch((error: unknown) => {
    if (hasCode(error, 'FORBIDDEN')) return undefined
    throw error
  })
  const text = found?.data?.ClusterConfiguration
  if (text === undefined) return undefined
  const file = parseConfigFile(text, 'kubeadm-config')
  const {certificatesDir: _, ...choices} = file.choices
  return {...file, choices}
}

/**
 * Makes this machine a part of the control plane, as far as files go: the CAs as received, its own certificates and kubeconfigs, its
 * settings. The server is not started: on a store of its own it would be another cluster. Whoever starts it does so with the plane
 * in `context`, once the folder is complete.
 */
export async function preparePlane(
  files: SharedFiles,
  context: InitContext,
  resolve: () => Promise<Plane>,
  observer: PhaseObserver,
): Promise<Plane> {
  const {dir} = context.plane
  await requireNoOther(certDirOf(context.plane), files)
  await exclusively(
    dir,
    async () => {
      context.plane = {...(await resolve()), joinedControlPlane: true}
      const {plane} = context
      await requireNoOther(certDirOf(plane), files)
      await writeReceived(certDirOf(plane), files, notesMade(plane))
      await savePlane(plane)
      for (const phase of [certs, kubeconfig]) {
        observer.begin(phase)
        await phase.run(context)
        observer.end(phase)
      }
    },
    context.tell,
  )
  return context.plane
}
