import {isIPv6} from 'node:net'
import {join} from 'node:path'
import {lookAt} from '../fs/file-checks.ts'
import {requireCertificates} from './credentials.ts'
import {tokenFromFile} from './kubeconfig-access.ts'
import {readSmallFile} from './kubeconfig-files.ts'
import type {Environment} from './proxy-rules.ts'
import type {ServerAccess} from './server-access.ts'

/** Where the kubelet puts the files of a pod's service account. */
const SERVICE_ACCOUNT = '/var/run/secrets/kubernetes.io/serviceaccount'

/** The access of a program that runs in a pod, as its service account; undefined outside of one. As client-go finds it. */
export async function inClusterAccess(
  environment: Environment,
  folder = SERVICE_ACCOUNT,
): Promise<ServerAccess | undefined> {
  const {KUBERNETES_SERVICE_HOST: host, KUBERNETES_SERVICE_PORT: port} = environment
  const token = join(folder, 'token')
  if (!host || !port || !(await lookAt(token))) return undefined
  const ca = await readSmallFile(join(folder, 'ca.crt'), "the service account's CA")
  requireCertificates(ca, 'ca.crt of the service account')
  return {
    server: `https://${isIPv6(host) ? `[${host}]` : host}:${port}/`,
    ca,
    bearerToken: tokenFromFile(token),
    namespace: await namespaceOf(folder),
  }
}

async function namespaceOf(folder: string): Promise<string | undefined> {
  const file = join(folder, 'namespace')
  if (!(await lookAt(file))) return undefined
  return (await readSmallFile(file, "the service account's namespace")).trim() || undefined
}
