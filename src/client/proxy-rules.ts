import {BlockList, isIP} from 'node:net'

export type Environment = Record<string, string | undefined>

/** The proxy for a server by `HTTPS_PROXY` and `NO_PROXY`, with the rules of Go's httpproxy, which kubectl follows. */
export function proxyFromEnvironment(server: URL, environment: Environment): string | undefined {
  // Plain HTTP is only for this machine, and never goes through a proxy.
  if (server.protocol !== 'https:') return undefined
  const proxy = variable(environment, 'HTTPS_PROXY')
  if (!proxy || isLoopback(hostOf(server))) return undefined
  if (isExempt(server, variable(environment, 'NO_PROXY') ?? '')) return undefined
  return proxy.includes('://') ? proxy : `http://${proxy}`
}

/** Whether `NO_PROXY` names the server: by `*`, address, CIDR, domain (with its subdomains), `.subdomains`, each with an optional port. */
export function isExempt(server: URL, noProxy: string): boolean {
  const host = hostOf(server)
  const port = server.port || '443'
  return noProxy
    .split(',')
    .map((rule) => rule.trim().toLowerCase())
    .some((rule) => rule !== '' && matches(rule, host, port))
}

/** The host for a socket: an IPv6 address without its brackets. */
export function hostOf(url: URL): string {
  return url.hostname.replace(/^\[(.*)\]$/, '$1').toLowerCase()
}

export function isLoopback(host: string): boolean {
  return host === 'localhost' || (isIP(host) !== 0 && inNetwork(host, LOOPBACK))
}

const LOOPBACK = new BlockList()
LOOPBACK.addSubnet('127.0.0.0', 8, 'ipv4')
LOOPBACK.addAddress('::1', 'ipv6')

function variable(environment: Environment, name: string): string | undefined {
  const [found] = [environment[name], environment[name.toLowerCase()]].filter(Boolean)
  return found
}

function matches(rule: string, host: string, port: string): boolean {
  if (rule === '*') return true
  if (rule.includes('/')) return matchesNetwork(rule, host)
  const {name, onlyPort} = splitPort(rule)
  if (onlyPort !== undefined && onlyPort !== port) return false
  if (isIP(name)) return isIP(host) !== 0 && sameAddress(name, host)
  if (isIP(host)) return false
  const domain = name.replace(/^\*?\./, '')
  const withItself = domain === name
  return host.endsWith(`.${domain}`) || (withItself && host === domain)
}

function matchesNetwork(rule: string, host: string): boolean {
  const [address = '', bits = ''] = rule.split('/')
  const family = isIP(address)
  const length = Number(bits)
  const longest = family === 4 ? 32 : 128
  if (!isIP(host) || !family || !/^\d+$/.test(bits) || length > longest) return false
  const network = new BlockList()
  network.addSubnet(address, length, familyOf(address))
  return inNetwork(host, network)
}

function sameAddress(one: string, other: string): boolean {
  const single = new BlockList()
  single.addAddress(one, familyOf(one))
  return inNetwork(other, single)
}

function inNetwork(address: string, network: BlockList): boolean {
  return network.check(address, familyOf(address))
}

function familyOf(address: string): 'ipv4' | 'ipv6' {
  return isIP(address) === 6 ? 'ipv6' : 'ipv4'
}

function splitPort(rule: string): {name: string; onlyPort?: string} {
  if (isIP(rule)) return {name: rule}
  const [, bracketed, plain, onlyPort] = /^(?:\[([^\]]*)\]|([^:]*))(?::(\d+))?$/.exec(rule) ?? []
  const name = bracketed ?? plain ?? rule
  return onlyPort === undefined ? {name} : {name, onlyPort}
}
