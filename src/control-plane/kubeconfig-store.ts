import {parseKubeconfig, type Kubeconfig} from '../client/kubeconfig.ts'
import {buildKubeconfig, writeKubeconfig} from '../client/kubeconfig-build.ts'
import {parseCertificate} from '../pki/certificate.ts'
import {readFileIfThere} from '../fs/files.ts'
import type {BeforeWrite, LeafMaterial, LeafStore} from '../pki/pair-store.ts'

export interface KubeconfigTarget {
  server: string
  clusterName: string
}

function current(config: Kubeconfig) {
  const context = config.contexts.find(({name}) => name === config['current-context'])?.context
  return {
    cluster: config.clusters.find(({name}) => name === context?.cluster)?.cluster,
    user: config.users.find(({name}) => name === context?.user)?.user,
  }
}

const decoded = (data: string | undefined): string | undefined =>
  data === undefined ? undefined : Buffer.from(data, 'base64').toString()

/** The server that the current context of a kubeconfig names; undefined if there is no file. */
export async function serverOf(path: string): Promise<string | undefined> {
  const content = await readFileIfThere(path, {secret: true})
  return content && current(parseKubeconfig(content.toString(), path)).cluster?.server
}

/** Where the current context of a kubeconfig leads; undefined if there is no file. */
export async function targetOf(path: string): Promise<KubeconfigTarget | undefined> {
  const content = await readFileIfThere(path, {secret: true})
  if (!content) return undefined
  const config = parseKubeconfig(content.toString(), path)
  const context = config.contexts.find(({name}) => name === config['current-context'])?.context
  const named = config.clusters.find(({name}) => name === context?.cluster)
  const server = named?.cluster.server
  return named && server !== undefined ? {server, clusterName: named.name} : undefined
}

async function read(path: string): Promise<Partial<LeafMaterial> | undefined> {
  const content = await readFileIfThere(path, {secret: true})
  if (!content) return undefined
  const {cluster, user} = current(parseKubeconfig(content.toString(), path))
  const certificatePem = decoded(user?.['client-certificate-data'])
  const keyPem = decoded(user?.['client-key-data'])
  const caPem = decoded(cluster?.['certificate-authority-data'])
  return {
    ...(certificatePem === undefined ? {} : {certificatePem}),
    ...(keyPem === undefined ? {} : {keyPem}),
    ...(caPem === undefined ? {} : {caPem}),
  }
}

/** Stores a leaf in a kubeconfig, as kubeadm does for admin.conf and others. */
export function kubeconfigStore(
  path: string,
  {server, clusterName}: KubeconfigTarget,
  beforeWrite?: BeforeWrite,
): LeafStore {
  return {
    location: path,
    files: [path],
    read: () => read(path),
    write: async ({certificatePem, keyPem, caPem}) => {
      await writeKubeconfig(
        path,
        buildKubeconfig({
          server,
          clusterName,
          ca: caPem,
          userName: parseCertificate(certificatePem).subject.commonName,
          credentials: {certificate: certificatePem, key: keyPem},
        }),
        beforeWrite,
      )
    },
  }
}
