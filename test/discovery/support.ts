import type {RequestListener, ServerResponse} from 'node:http'
import {formatClusterInfo, jwsKey, type ClusterInfo} from '../../src/bootstrap/cluster-info.ts'
import {formatToken, type BootstrapToken} from '../../src/bootstrap/token.ts'
import type {DiscoverySettings} from '../../src/discovery/settings.ts'
import {parseCertificate} from '../../src/pki/certificate.ts'
import {pinOf} from '../../src/pki/pins.ts'
import {independentJws} from '../helpers/jws.ts'
import {answer, status} from '../client/support/fake-api.ts'
import {issue, makeAuthority, type TestAuthority} from '../client/support/certificates.ts'
import {serveTls, type RunningServer} from '../client/support/servers.ts'

export const TOKEN: BootstrapToken = {id: 'k3v8q1', secret: 'u7zq2m9x4c6b1n8w'}
export const TOKEN_TEXT = formatToken(TOKEN)
export const CLUSTER_INFO_PATH = '/api/v1/namespaces/kube-public/configmaps/cluster-info'

/** Once and no more; no proxy of this machine has a say. */
export const ONCE: DiscoverySettings = {timeout: 0, environment: {}}

export type Data = Record<string, unknown>

export const pinOfPem = (pem: string): string => pinOf(parseCertificate(pem))

/** The data of a cluster-info that the token has signed. */
export function signedData(info: ClusterInfo, token = TOKEN, kubeconfig?: string): Data {
  const text = kubeconfig ?? formatClusterInfo(info)
  return {kubeconfig: text, [jwsKey(token.id)]: independentJws(text, token)}
}

export function answerData(response: ServerResponse, data: Data): void {
  answer(response, 200, {
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: {name: 'cluster-info', namespace: 'kube-public'},
    data,
  })
}

export function answerStatus(response: ServerResponse, code: number, reason: string): void {
  answer(response, code, status(code, reason, `the server says ${reason}`))
}

export interface FakeCluster extends RunningServer {
  authority: TestAuthority
  ca: string
  pin: string
  /** `host:port`. */
  endpoint: string
  /** Every request, as `METHOD path`. */
  requests: string[]
  headers: Record<string, unknown>[]
  /** Changes what is answered from now on. */
  answerWith: (listener: RequestListener) => void
  /** Answers with a cluster-info, signed unless the data say otherwise. */
  publish: (data: Data) => void
}

/** An API server on loopback that knows one path, and tells whatever it is made to tell. */
export async function startFakeCluster(authority?: TestAuthority): Promise<FakeCluster> {
  const owner = authority ?? (await makeAuthority('kubernetes'))
  let current: RequestListener = (_request, response) => answerStatus(response, 404, 'NotFound')
  const requests: string[] = []
  const headers: Record<string, unknown>[] = []
  const server = await serveTls(await issue(owner), (request, response) => {
    requests.push(`${request.method ?? ''} ${request.url ?? ''}`)
    headers.push(request.headers)
    current(request, response)
  })
  const answerWith = (listener: RequestListener) => {
    current = listener
  }
  const publish = (data: Data) => answerWith((_request, response) => answerData(response, data))
  publish(signedData({server: server.url, ca: owner.pem}))
  return {
    ...server,
    authority: owner,
    ca: owner.pem,
    pin: pinOfPem(owner.pem),
    endpoint: `127.0.0.1:${server.port}`,
    requests,
    headers,
    answerWith,
    publish,
  }
}
