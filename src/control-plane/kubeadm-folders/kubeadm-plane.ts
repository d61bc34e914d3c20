import {join} from 'node:path'
import type {ApiClient} from '../../client/api-client.ts'
import {connectTo} from '../../client/connect.ts'
import {resolveAccess} from '../../client/kubeconfig-access.ts'
import {readKubeconfig} from '../../client/kubeconfig-files.ts'
import {TrustError, messageOf} from '../../errors.ts'
import {inspectCatalog} from '../../pki/inspect.ts'
import type {Clock} from '../../runtime.ts'
import type {Plane} from '../config/plane.ts'
import {complete} from '../config/settings.ts'
import {readServers} from '../server-identity.ts'
import {differencesOf, problemsOf} from '../server-problems.ts'
import {reportOf, type ExpirationReport} from '../expiration.ts'
import {parseChecks, type ServerReport, type StatusReport} from '../status.ts'
import {readKubeadmFiles, type KubeadmFiles, type KubeadmFolders} from './folders.ts'

/** Every certificate of a kubeadm control plane, as `checkExpiration` reports ours. */
export async function checkKubeadmExpiration(
  folders: KubeadmFolders,
  clock: Clock,
): Promise<ExpirationReport> {
  const {catalog, openStore} = await readKubeadmFiles(folders)
  return reportOf(await inspectCatalog(catalog, {certDir: folders.certDir, openStore}, clock))
}

/** A kubeadm control plane in the form of one of ours, to sign for its users. Nothing of it is ever stored. */
export async function planeOfKubeadm(folders: KubeadmFolders): Promise<Plane> {
  const {target} = await readKubeadmFiles(folders)
  if (target.server === '') {
    throw new TrustError('NOT_FOUND', `there is no admin.conf in ${folders.kubeconfigDir}`, {
      hints: ['name the folder of admin.conf with --kubeconfig-dir, usually /etc/kubernetes'],
    })
  }
  const {host, port} = new URL(target.server)
  const settings = complete(folders.kubeconfigDir, {
    certificatesDir: folders.certDir,
    controlPlaneEndpoint: port === '' ? `${host}:443` : host,
    clusterName: target.clusterName,
    keyAlgorithm: 'RSA-2048',
  })
  return {dir: folders.kubeconfigDir, settings, generatedAuthorities: []}
}

const UNREACHED: ServerReport = {
  running: false,
  ready: false,
  pid: null,
  startedAt: null,
  startCommand: null,
  version: null,
  checks: [],
  problems: [],
}

type Reported = Pick<StatusReport, 'server' | 'servers'>

async function readiness(
  client: Pick<ApiClient, 'raw'>,
): Promise<Pick<ServerReport, 'ready' | 'checks' | 'problems'>> {
  try {
    return {ready: true, checks: parseChecks(await client.raw('/readyz?verbose')), problems: []}
  } catch (error) {
    const text = error instanceof TrustError ? error.facts.text : undefined
    const checks = parseChecks(typeof text === 'string' ? text : '')
    return {ready: false, checks, problems: [messageOf(error)]}
  }
}

/** With all API servers of the cluster. kube-apiserver has such Leases since 1.26. */
async function withServers(
  client: Pick<ApiClient, 'leases'>,
  server: ServerReport,
  clock: Clock,
): Promise<Reported> {
  try {
    const servers = await readServers(client, clock)
    return {server: {...server, problems: [...server.problems, ...problemsOf(servers)]}, servers}
  } catch (error) {
    const problem = `cannot list the servers: ${messageOf(error)}`
    return {server: {...server, problems: [...server.problems, problem]}, servers: []}
  }
}

/** What the API server says of itself to the administrator of admin.conf. */
async function reportServer({folders}: KubeadmFiles, clock: Clock): Promise<Reported> {
  try {
    const config = await readKubeconfig(join(folders.kubeconfigDir, 'admin.conf'))
    const client = connectTo(await resolveAccess(config), {retry: {attempts: 1}})
    try {
      const {gitVersion} = await client.version()
      const server = {
        ...UNREACHED,
        running: true,
        version: gitVersion,
        ...(await readiness(client)),
      }
      // Without its store it would let the list wait, and fail for the same reason.
      return server.ready ? await withServers(client, server, clock) : {server, servers: []}
    } finally {
      await client.close()
    }
  } catch (error) {
    return {server: {...UNREACHED, problems: [messageOf(error)]}, servers: []}
  }
}

/** As `readStatus`, of a kubeadm control plane. */
export async function readKubeadmStatus(
  folders: KubeadmFolders,
  clock: Clock,
): Promise<StatusReport> {
  const files = await readKubeadmFiles(folders)
  const reported = await reportServer(files, clock)
  return {
    dir: folders.kubeconfigDir,
    endpoint: files.target.server,
    ...reported,
    differences: differencesOf(reported.servers),
    certificates: await checkKubeadmExpiration(folders, clock),
    objects: [],
  }
}
