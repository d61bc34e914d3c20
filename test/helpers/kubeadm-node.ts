import {chmod, mkdir, symlink, writeFile} from 'node:fs/promises'
import {delimiter, join} from 'node:path'
import {issueLeaf, type Issuer} from '../../src/pki/issuer.ts'
import {generateKeys, privateKeyPem} from '../../src/pki/keys.ts'
import {NO_NAMES, type SubjectNames} from '../../src/pki/subject-names.ts'

const HOUR = 3_600_000

export interface IssuedPair {
  certificate: string
  key: string
}

/** A certificate of a node, valid from some hours ago until some hours from now. */
export async function nodePair(
  issuer: Issuer,
  node: string,
  {
    from = -1,
    to = 1,
    serving,
    subject = {commonName: `system:node:${node}`, organizations: ['system:nodes']},
  }: {
    from?: number
    to?: number
    serving?: Partial<SubjectNames>
    subject?: {commonName: string; organizations: string[]}
  } = {},
): Promise<IssuedPair> {
  const keys = await generateKeys()
  const now = Date.now()
  const certificate = await issueLeaf(issuer, {
    subject,
    names: {...NO_NAMES, ...serving},
    publicKey: keys.publicKey,
    usages: ['digital signature', serving ? 'server auth' : 'client auth'],
    validity: {notBefore: new Date(now + from * HOUR), notAfter: new Date(now + to * HOUR)},
  })
  return {certificate, key: privateKeyPem(keys.privateKey)}
}

const base64 = (text: string) => Buffer.from(text).toString('base64')

/** As client-go writes it, with the names that the kubelet gives after its TLS bootstrap. */
export const kubeletConf = (
  {server, ca}: {server: string; ca: string},
  user: string,
): string => `apiVersion: v1
clusters:
- cluster:
    certificate-authority-data: ${base64(ca)}
    server: ${server}
  name: default-cluster
contexts:
- context:
    cluster: default-cluster
    namespace: default
    user: default-auth
  name: default-context
current-context: default-context
kind: Config
users:
- name: default-auth
  user:
${user.replace(/^/gm, '    ')}
`

export const inline = ({certificate, key}: IssuedPair): string =>
  `client-certificate-data: ${base64(certificate)}\nclient-key-data: ${base64(key)}`

export const files = (certificate: string, key = certificate): string =>
  `client-certificate: ${certificate}\nclient-key: ${key}`

/** A pair as the kubelet's certificate manager keeps it: unlike trustadm's, its link names the whole path. */
export async function putPair(
  folder: string,
  pair: 'kubelet-client' | 'kubelet-server',
  {certificate, key}: IssuedPair,
  time = '2026-01-31-23-59-59',
): Promise<string> {
  await mkdir(folder, {recursive: true})
  const file = join(folder, `${pair}-${time}.pem`)
  await writeFile(file, certificate + key, {mode: 0o600})
  await symlink(file, join(folder, `${pair}-current.pem`))
  return file
}

/** What `kubeadm join` and the kubelet leave on a worker: /etc/kubernetes and /var/lib/kubelet/pki, below a folder. */
export async function kubeadmNode(
  folder: string,
  cluster: {server: string; ca: string; issuer: Issuer},
  name: string,
  serving: Partial<SubjectNames> = {dns: [name], ips: ['10.77.0.13']},
): Promise<{dir: string; certDir: string}> {
  const [dir, certDir] = [join(folder, 'etc-kubernetes'), join(folder, 'kubelet', 'pki')]
  await mkdir(join(dir, 'manifests'), {recursive: true})
  await mkdir(join(dir, 'pki'))
  for (const one of [dir, join(dir, 'pki')]) await chmod(one, 0o755)
  await writeFile(join(dir, 'pki', 'ca.crt'), cluster.ca, {mode: 0o644})
  const {issuer} = cluster
  await putPair(certDir, 'kubelet-client', await nodePair(issuer, name))
  await putPair(certDir, 'kubelet-server', await nodePair(issuer, name, {serving}))
  await chmod(certDir, 0o755)
  const link = join(certDir, 'kubelet-client-current.pem')
  await writeFile(join(dir, 'kubelet.conf'), kubeletConf(cluster, files(link)), {mode: 0o600})
  return {dir, certDir}
}

/** A systemd whose kubelet is in a state. Its folder comes first in PATH; it notes what it was asked in a file. */
export async function fakeSystemd(
  folder: string,
  state: 'active' | 'inactive' | 'unknown' | 'broken',
): Promise<{path: string; log: string}> {
  const [bin, log] = [join(folder, `systemd-${state}`), join(folder, `systemd-${state}.log`)]
  await mkdir(bin, {recursive: true})
  const word = {active: 'active', broken: 'active', inactive: 'inactive', unknown: 'inactive'}[
    state
  ]
  const script = `#!/bin/sh
echo "$*" >>'${log}'
case $1 in
  is-active) echo ${word}; [ ${word} = active ] ;;
  cat) [ ${state} != unknown ] ;;
  restart) [ ${state} != broken ] ;;
esac
`
  await writeFile(join(bin, 'systemctl'), script, {mode: 0o755})
  await writeFile(log, '')
  return {path: `${bin}${delimiter}${process.env.PATH ?? ''}`, log}
}
