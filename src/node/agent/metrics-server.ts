import {createServer} from 'node:http'
import type {AddressInfo} from 'node:net'
import {systemCode, TrustError} from '../../errors.ts'
import {METRICS_CONTENT_TYPE} from '../../server/metrics/registry.ts'
import type {AgentMetrics} from './agent-metrics.ts'

export interface MetricsAddress {
  host: string
  port: number
}

const ADDRESS = /^(?:(?:\[([0-9a-f:.]+)\]|([^:\s]+))?:)?(\d{1,5})$/i
const LOOPBACK = '127.0.0.1'
/** Prometheus needs one. */
const MOST_CONNECTIONS = 32
const LONGEST_REQUEST = 10_000

/** Reads `9100`, `:9100` or `host:9100`. Only this machine can read metrics unless another address is named. */
export function parseMetricsAddress(text: string): MetricsAddress {
  const [, v6, name, port] = ADDRESS.exec(text.trim()) ?? []
  if (port !== undefined && Number(port) <= 65_535) {
    return {host: v6 ?? name ?? LOOPBACK, port: Number(port)}
  }
  throw new TrustError('USAGE', '--metrics-address is not a valid address', {
    hints: ['use a port as in "9100", or an address and a port as in "0.0.0.0:9100"'],
  })
}

/** Serves /metrics and /healthz until it is closed. */
export async function serveMetrics({host, port}: MetricsAddress, metrics: AgentMetrics) {
  const server = createServer((request, response) => {
    // Not URL: it throws for some of what a client can send, and that would end the agent.
    const [path] = (request.url ?? '').split('?', 1)
    if (request.method !== 'GET') response.writeHead(405).end()
    else if (path === '/healthz') response.end('ok')
    else if (path !== '/metrics') response.writeHead(404).end()
    else response.setHeader('content-type', METRICS_CONTENT_TYPE).end(metrics.text())
  })
  server.maxConnections = MOST_CONNECTIONS
  server.requestTimeout = server.headersTimeout = LONGEST_REQUEST
  await new Promise<void>((resolve, reject) => {
    server.once('error', (error) => reject(cannotListen(host, port, error)))
    server.listen(port, host, resolve)
  })
  const address = server.address() as AddressInfo
  return {
    address: `${address.family === 'IPv6' ? `[${address.address}]` : address.address}:${address.port}`,
    close: () => {
      server.closeAllConnections()
      return new Promise<void>((resolve) => server.close(() => resolve()))
    },
  }
}

function cannotListen(host: string, port: number, cause: Error): TrustError {
  const isTaken = systemCode(cause) === 'EADDRINUSE'
  return new TrustError(
    isTaken ? 'PORT_IN_USE' : 'USAGE',
    `metrics cannot be served on ${host}:${port}: ${isTaken ? 'another process uses that port' : cause.message}`,
    {cause, hints: ['choose another address with --metrics-address']},
  )
}
