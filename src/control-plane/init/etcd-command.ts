import {join} from 'node:path'
import {lookAt} from '../../fs/file-checks.ts'
import {certDirOf, fileOf, type Plane} from '../config/plane.ts'
import {planeCommand} from '../plane-command.ts'

/** etcd's own ports and folder, as its packages have them. */
const CLIENT_PORT = 2379
const PEER_PORT = 2380
const DATA = '/var/lib/etcd'

const urlOf = (address: string, port: number): string =>
  `https://${address.includes(':') ? `[${address}]` : address}:${port}`

/** The flags with which an etcd of one member uses what `init phase certs etcd` has created, each with its value. */
export function etcdFlagsFor(plane: Plane): [flag: string, value?: string][] {
  const {nodeName, advertiseAddress} = plane.settings
  const file = (name: string) => join(certDirOf(plane), 'etcd', name)
  const client = urlOf(advertiseAddress, CLIENT_PORT)
  const peer = urlOf(advertiseAddress, PEER_PORT)
  const listen = new Set([urlOf('127.0.0.1', CLIENT_PORT), client])
  return [
    ['--name', nodeName],
    ['--data-dir', DATA],
    ['--listen-client-urls', [...listen].join(',')],
    ['--advertise-client-urls', client],
    ['--listen-peer-urls', peer],
    ['--initial-advertise-peer-urls', peer],
    ['--initial-cluster', `${nodeName}=${peer}`],
    ['--client-cert-auth'],
    ['--trusted-ca-file', file('ca.crt')],
    ['--cert-file', file('server.crt')],
    ['--key-file', file('server.key')],
    ['--peer-client-cert-auth'],
    ['--peer-trusted-ca-file', file('ca.crt')],
    ['--peer-cert-file', file('peer.crt')],
    ['--peer-key-file', file('peer.key')],
  ]
}

/** The commands that make that etcd the store of the control plane; none if it has one already. */
export async function commandsToUseEtcd(plane: Plane): Promise<string[]> {
  const {dir, settings} = plane
  if (settings.etcdServers) return []
  const servers = `--etcd-servers ${urlOf(settings.advertiseAddress, CLIENT_PORT)}`
  if (!(await lookAt(fileOf(plane, 'data')))) return [planeCommand(dir, `init ${servers}`)]
  return [
    planeCommand(dir, 'stop'),
    planeCommand(dir, 'backup objects.backup --objects-only'),
    planeCommand(dir, `restore objects.backup --to etcd ${servers}`),
    planeCommand(dir, 'start'),
  ]
}
