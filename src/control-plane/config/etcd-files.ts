import {join} from 'node:path'
import {lookAt} from '../../fs/file-checks.ts'
import type {Choices} from './settings.ts'

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
