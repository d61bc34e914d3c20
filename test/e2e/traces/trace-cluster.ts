import {createHash, X509Certificate} from 'node:crypto'
import {readFile} from 'node:fs/promises'
import {parseKubeconfig} from '../../../src/client/kubeconfig.ts'
import {sharedCluster} from '../../helpers/cluster.ts'
import {GoClient, type Protocol} from './go-client.ts'

/** A cluster of the built program, as its admin.conf describes it. */
export interface TraceCluster {
  server: string
  ca: string
  admin: {certificate: string; key: string}
}

const decoded = (data: string | undefined): string => Buffer.from(data ?? '', 'base64').toString()

export async function traceCluster(): Promise<TraceCluster> {
  const {kubeconfig} = await sharedCluster()
  const {clusters, users} = parseKubeconfig(await readFile(kubeconfig, 'utf8'))
  const cluster = clusters[0]?.cluster
  const user = users[0]?.user
  return {
    server: cluster?.server ?? '',
    ca: decoded(cluster?.['certificate-authority-data']),
    admin: {
      certificate: decoded(user?.['client-certificate-data']),
      key: decoded(user?.['client-key-data']),
    },
  }
}

const AGENT = 'v1.36.4 (linux/amd64) kubernetes/1a2b3c4'

/** A program of Kubernetes that holds admin.conf. */
export const asAdmin = (cluster: TraceCluster, protocol: Protocol, program: string): GoClient =>
  new GoClient({
    server: cluster.server,
    protocol,
    userAgent: `${program}/${AGENT}`,
    ca: cluster.ca,
    credentials: cluster.admin,
  })

/** A program of Kubernetes that has no credentials yet. */
export const asNobody = (cluster: TraceCluster, protocol: Protocol, program: string): GoClient =>
  new GoClient({server: cluster.server, protocol, userAgent: `${program}/${AGENT}`})

/** The pin of a certificate, as `--discovery-token-ca-cert-hash` has it. */
export const pinOf = (certificate: string): string => {
  const spki = new X509Certificate(certificate).publicKey.export({type: 'spki', format: 'der'})
  return `sha256:${createHash('sha256').update(spki).digest('hex')}`
}

/** A suffix for names, so that the same trace can be played over both protocols. */
export const suffixOf = (protocol: Protocol): string => (protocol === 'h2' ? 'h2' : 'h1')
