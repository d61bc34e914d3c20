import {join, resolve} from 'node:path'
import {hasCode, TrustError} from '../../errors.ts'
import {lookAt} from '../../fs/file-checks.ts'
import {
  DEFAULT_ETCD_PREFIX,
  type EtcdSettings,
  parseEtcdPrefix,
  parseEtcdServer,
} from '../../storage/etcd/settings.ts'
import {type Read, text, texts} from './fields.ts'
import type {Choices, Settings} from './settings.ts'

const MOST_SERVERS = 32

/** Names the setting in an error about its value. */
function named<Value>(name: string, read: () => Value): Value {
  try {
    return read()
  } catch (error) {
    if (!hasCode(error, 'CONFIG_INVALID')) throw error
    throw new TrustError('CONFIG_INVALID', `${name}: ${error.message}`, {hints: error.hints})
  }
}

/** A list, or a text with commas as on kube-apiserver's command line. */
export const etcdServers: Read<string[]> = (value, name) => {
  const list = texts(typeof value === 'string' ? value.split(',') : value, name)
  if (list.length === 0 || list.length > MOST_SERVERS)
    throw new TrustError('CONFIG_INVALID', `${name} must name 1 to ${MOST_SERVERS} servers`)
  const servers = named(name, () => list.map((one) => parseEtcdServer(one.trim())))
  return [...new Set(servers)]
}

export const etcdPrefix: Read<string> = (value, name) =>
  named(name, () => parseEtcdPrefix(text(value, name)))

export const filePath: Read<string> = (value, name) => resolve(text(value, name))

/** The etcd of a control plane; undefined if it has the embedded store. */
export function etcdOf(settings: Settings): EtcdSettings | undefined {
  const {etcdServers: servers, etcdCaFile, etcdCertFile, etcdKeyFile, etcdPrefix: prefix} = settings
  if (servers === undefined) {
    const others = {etcdCaFile, etcdCertFile, etcdKeyFile, etcdPrefix: prefix}
    const [stray] = Object.entries(others).find(([, value]) => value !== undefined) ?? []
    if (stray === undefined) return undefined
    throw new TrustError('CONFIG_INVALID', `${stray} is set, but no server of etcd`, {
      hints: ['name the servers with --etcd-servers'],
    })
  }
  return {
    servers,
    caFile: etcdCaFile,
    certFile: etcdCertFile,
    keyFile: etcdKeyFile,
    prefix: prefix ?? DEFAULT_ETCD_PREFIX,
  }
}

/** An address of this machine in its network does not count: an etcd that listens there lets in others, too. */
function isLoopback(server: string): boolean {
  const {hostname} = new URL(server)
  return ['localhost', '[::1]'].includes(hostname) || /^127\.\d+\.\d+\.\d+$/.test(hostname)
}

/** The members that are reached without TLS over a network: everything stored, with all Secrets, is sent there in plain text. */
const unencryptedServers = ({etcdServers: servers = []}: Choices): string[] =>
  servers.filter((one) => one.startsWith('http:') && !isLoopback(one))

/** The warning of a control plane that has them already: it starts as before. */
export function unencryptedWarning(settings: Choices): string[] {
  const servers = unencryptedServers(settings)
  if (servers.length === 0) return []
  return [
    `${servers.join(', ')} of etcd: everything stored, with all Secrets, crosses the network unencrypted, and anyone there can change it; use https`,
  ]
}

/** For a control plane that does not use these members yet. */
export function requireEncryption(chosen: Choices, saved: Choices = {}): void {
  const [server] = unencryptedServers(chosen).filter((one) => !saved.etcdServers?.includes(one))
  if (server === undefined) return
  throw new TrustError(
    'CONFIG_INVALID',
    `${server} is an etcd in the network, without TLS: everything stored would cross it unencrypted`,
    {
      hints: [
        'let etcd listen with TLS, and name it with https://',
        'to make the certificates for it, run "trustadm init phase certs etcd"',
      ],
    },
  )
}

/** Where `init phase certs etcd` puts what a server needs for etcd, in the folder of certificates. The names are kubeadm's. */
const OWN_FILES = {
  etcdCaFile: 'etcd/ca.crt',
  etcdCertFile: 'apiserver-etcd-client.crt',
  etcdKeyFile: 'apiserver-etcd-client.key',
} as const satisfies Partial<Record<keyof Choices, string>>

const NAMES = Object.keys(OWN_FILES) as (keyof typeof OWN_FILES)[]

/** Adds the files of our own PKI for etcd if they are there, the servers of etcd are chosen now, with TLS, and no other file is. */
export async function withOwnFiles<Chosen extends Choices>(
  certDir: string,
  chosen: Chosen,
  {etcdServers}: Choices = chosen,
): Promise<Chosen> {
  const hasTls = etcdServers?.some((url) => url.startsWith('https:')) === true
  if (!hasTls || NAMES.some((name) => chosen[name] !== undefined)) return chosen
  const files = NAMES.map((name) => join(certDir, OWN_FILES[name]))
  const found = await Promise.all(files.map(lookAt))
  if (found.includes(undefined)) return chosen
  return {...chosen, ...Object.fromEntries(NAMES.map((name, index) => [name, files[index]]))}
}
