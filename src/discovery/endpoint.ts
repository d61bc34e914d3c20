import {isIP} from 'node:net'
import {TrustError} from '../errors.ts'

const FORM = /^(?:https:\/\/)?(\[[0-9A-Fa-f:.]+\]|[^\s:/@?#[\]]+):(\d{1,5})\/?$/
const LABEL = /^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$/

/** The https:// URL for `host:port`, the address of an API server. As in kubeadm, the port is required. */
export function parseEndpoint(text: string, index = 0): string {
  const [, host = '', port = ''] = FORM.exec(text) ?? []
  if (!isHost(host) || Number(port) < 1 || Number(port) > 65_535) {
    // Not repeated in the message: it may be a token in the wrong place.
    throw new TrustError('USAGE', `endpoint ${index + 1} is not the address of an API server`, {
      hints: ['an address is host:port, such as 10.0.0.1:6443, [fd00::1]:6443 or api.example:6443'],
    })
  }
  return `https://${host.toLowerCase()}:${Number(port)}`
}

function isHost(host: string): boolean {
  if (host.startsWith('[')) return isIP(host.slice(1, -1)) === 6
  if (isIP(host) === 4) return true
  const labels = host.toLowerCase().replace(/\.$/, '').split('.')
  // A host that ends in a number would be read as an IPv4 address in an old form.
  return (
    host.length <= 253 &&
    labels.every((label) => LABEL.test(label)) &&
    !/^\d+$/.test(labels.at(-1) ?? '')
  )
}
