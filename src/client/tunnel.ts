import {request as plainRequest} from 'node:http'
import {request as tlsRequest} from 'node:https'
import type {Socket} from 'node:net'
import {TrustError, messageOf, systemCode} from '../errors.ts'
import {printable} from './printable.ts'
import {hostOf, proxyFromEnvironment, type Environment} from './proxy-rules.ts'
import type {ServerAccess} from './server-access.ts'

/** Checks a proxy's address before anything is sent. SOCKS is not supported. */
export function parseProxy(text: string): URL {
  const url = URL.canParse(text) ? new URL(text) : undefined
  if (url && (url.protocol === 'http:' || url.protocol === 'https:') && url.hostname) return url
  // Not shown: a proxy's address often contains a password.
  throw new TrustError('KUBECONFIG_INVALID', 'the proxy is not an http:// or https:// URL', {
    hints: ['check proxy-url in the kubeconfig and HTTPS_PROXY; SOCKS proxies are not supported'],
  })
}

/** The proxy on the way to a server. */
export function proxyOf(access: ServerAccess, environment: Environment): URL | undefined {
  const text = access.proxyUrl ?? proxyFromEnvironment(new URL(access.server), environment)
  return text === undefined ? undefined : parseProxy(text)
}

/** Opens a tunnel through a proxy with CONNECT; TLS with the server runs inside it. */
export async function openTunnel(
  proxy: URL,
  target: {host: string; port: number},
  timeout: number,
): Promise<Socket> {
  const send = proxy.protocol === 'https:' ? tlsRequest : plainRequest
  const authority = `${target.host.includes(':') ? `[${target.host}]` : target.host}:${target.port}`
  return await new Promise((resolve, reject) => {
    const request = send({
      host: hostOf(proxy),
      port: proxy.port || (proxy.protocol === 'https:' ? 443 : 80),
      method: 'CONNECT',
      path: authority,
      headers: {host: authority, ...authorization(proxy)},
      agent: false,
    })
    // Not a timer of the socket: that would keep counting inside the tunnel, where a watch may be silent for long.
    const timer = setTimeout(() => request.destroy(new Error('it does not respond')), timeout)
    request.on('close', () => clearTimeout(timer))
    request.on('connect', (response, socket, head) => {
      clearTimeout(timer)
      if (head.length > 0) socket.unshift(head)
      if (response.statusCode === 200) return resolve(socket)
      socket.destroy()
      reject(refused(proxy, response.statusCode))
    })
    // Some proxies respond to a refused CONNECT as to any other request.
    request.on('response', (response) => {
      response.destroy()
      reject(refused(proxy, response.statusCode))
    })
    request.on('error', (error) => reject(unreachable(proxy, error)))
    request.end()
  })
}

function authorization({username, password}: URL): Record<string, string> {
  if (!username) return {}
  const pair = `${decodeURIComponent(username)}:${decodeURIComponent(password)}`
  return {'proxy-authorization': `Basic ${Buffer.from(pair).toString('base64')}`}
}

function refused(proxy: URL, status = 0): TrustError {
  const hint =
    status === 407 ? 'the proxy requires a user and a password' : 'ask the operator of the proxy'
  return new TrustError(
    'SERVER_UNREACHABLE',
    `the proxy ${proxy.host} refused to connect to the API server (status ${status})`,
    {facts: {proxy: proxy.host, proxyStatus: status}, hints: [hint, EXEMPT]},
  )
}

function unreachable(proxy: URL, error: Error): TrustError {
  return new TrustError(
    'SERVER_UNREACHABLE',
    `the proxy ${proxy.host} cannot be reached: ${printable(messageOf(error))}`,
    {cause: error, facts: {proxy: proxy.host, systemCode: systemCode(error)}, hints: [EXEMPT]},
  )
}

const EXEMPT = 'add the API server to NO_PROXY if it can be reached directly'
