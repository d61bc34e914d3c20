import {mkdir, mkdtemp, writeFile} from 'node:fs/promises'
import {createServer, type AddressInfo} from 'node:net'
import {tmpdir} from 'node:os'
import {join} from 'node:path'
import {buildKubeconfig} from '../../src/client/kubeconfig-build.ts'
import {formatKubeconfig} from '../../src/client/kubeconfig.ts'
import {parseCertificate} from '../../src/pki/certificate.ts'
import {createAuthorityCertificate} from '../../src/pki/create.ts'
import {createIssuer, issueLeaf, type Issuer} from '../../src/pki/issuer.ts'
import {privateKeyPem, publicKeyPem} from '../../src/pki/keys.ts'
import {NO_NAMES, namesOfHosts} from '../../src/pki/subject-names.ts'
import type {Usage} from '../../src/pki/usages.ts'
import {rsaKeys} from './rsa-keys.ts'

const DAY = 86_400_000
const SERVER = 'https://10.0.0.10:6443'
const NODE = 'control-1'
const ADMINS = 'kubeadm:cluster-admins'

export interface KubeadmFixture {
  folder: string
  /** As /etc/kubernetes/pki. */
  certDir: string
  /** As /etc/kubernetes. */
  kubeconfigDir: string
  kubeconfigs: string[]
  /** Lets admin.conf lead to a port at which nobody listens. */
  unreachable: () => Promise<void>
}

const valid = (days: number) => ({
  notBefore: new Date(Date.now() - 300_000),
  notAfter: new Date(Date.now() + days * DAY),
})

interface Authority {
  pem: string
  issuer: Issuer
}

/** Files with the names, subjects, usages and kinds of keys that kubeadm 1.36 makes with a stacked etcd. */
export async function makeKubeadmFolders(): Promise<KubeadmFixture> {
  const folder = await mkdtemp(join(tmpdir(), 'trustadm-kubeadm-'))
  const kubeconfigDir = join(folder, 'kubernetes')
  const certDir = join(kubeconfigDir, 'pki')
  await mkdir(join(certDir, 'etcd'), {recursive: true, mode: 0o755})
  const keys = rsaKeys()
  const keyPem = privateKeyPem(keys.privateKey)
  /** kubeadm's own form of RSA keys. */
  const pkcs1 = keys.privateKey.export({format: 'pem', type: 'pkcs1'}).toString()

  const store = async (path: string, certificate: string) => {
    await writeFile(join(certDir, `${path}.crt`), certificate, {mode: 0o644})
    await writeFile(join(certDir, `${path}.key`), pkcs1, {mode: 0o600})
  }
  const authority = async (path: string, commonName: string): Promise<Authority> => {
    const pem = await createAuthorityCertificate({commonName}, keys, valid(3650))
    await store(path, pem)
    return {pem, issuer: createIssuer(parseCertificate(pem), keys.privateKey)}
  }
  const ca = await authority('ca', 'kubernetes')
  const frontProxy = await authority('front-proxy-ca', 'front-proxy-ca')
  const etcd = await authority('etcd/ca', 'etcd-ca')

  const leaf = (
    {issuer}: Authority,
    commonName: string,
    {groups = [], hosts = [], usages}: {groups?: string[]; hosts?: string[]; usages: Usage[]},
  ) =>
    issueLeaf(issuer, {
      subject: {commonName, organizations: groups},
      names: hosts.length > 0 ? namesOfHosts(hosts) : NO_NAMES,
      publicKey: keys.publicKey,
      usages: ['digital signature', 'key encipherment', ...usages],
      validity: valid(365),
    })
  const client: Usage[] = ['client auth']
  const both: Usage[] = ['server auth', 'client auth']
  const etcdHosts = [NODE, 'localhost', '10.0.0.10', '127.0.0.1', '::1']
  const apiHosts = [NODE, 'kubernetes', 'kubernetes.default', 'kubernetes.default.svc']
  const hosts = [...apiHosts, 'kubernetes.default.svc.cluster.local', '10.96.0.1', '10.0.0.10']
  await store('apiserver', await leaf(ca, 'kube-apiserver', {hosts, usages: ['server auth']}))
  await store(
    'apiserver-kubelet-client',
    await leaf(ca, 'kube-apiserver-kubelet-client', {groups: [ADMINS], usages: client}),
  )
  await store('front-proxy-client', await leaf(frontProxy, 'front-proxy-client', {usages: client}))
  await store(
    'apiserver-etcd-client',
    await leaf(etcd, 'kube-apiserver-etcd-client', {usages: client}),
  )
  await store('etcd/server', await leaf(etcd, NODE, {hosts: etcdHosts, usages: both}))
  await store('etcd/peer', await leaf(etcd, NODE, {hosts: etcdHosts, usages: both}))
  await store(
    'etcd/healthcheck-client',
    await leaf(etcd, 'kube-etcd-healthcheck-client', {usages: client}),
  )
  await writeFile(join(certDir, 'sa.key'), pkcs1, {mode: 0o600})
  await writeFile(join(certDir, 'sa.pub'), publicKeyPem(keys.publicKey), {mode: 0o600})

  const users: Record<string, [name: string, groups: string[]]> = {
    'admin.conf': ['kubernetes-admin', [ADMINS]],
    'super-admin.conf': ['kubernetes-super-admin', ['system:masters']],
    'controller-manager.conf': ['system:kube-controller-manager', []],
    'scheduler.conf': ['system:kube-scheduler', []],
  }
  const write = async (file: string, server: string) => {
    const [userName = '', groups = []] = users[file] ?? []
    const certificate = await leaf(ca, userName, {groups, usages: client})
    const credentials = {certificate, key: keyPem}
    const config = buildKubeconfig({server, ca: ca.pem, userName, credentials})
    await writeFile(join(kubeconfigDir, file), formatKubeconfig(config), {mode: 0o600})
  }
  for (const file of Object.keys(users)) await write(file, SERVER)
  return {
    folder,
    certDir,
    kubeconfigDir,
    kubeconfigs: Object.keys(users),
    unreachable: async () => write('admin.conf', `https://127.0.0.1:${await freePort()}`),
  }
}

async function freePort(): Promise<number> {
  const server = createServer()
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const {port} = server.address() as AddressInfo
  await new Promise((resolve) => server.close(resolve))
  return port
}
