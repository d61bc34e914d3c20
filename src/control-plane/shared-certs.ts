import {join} from 'node:path'
import type {Secret} from '../api/core.ts'
import {openWith, sealWith, type CertificateKey} from '../bootstrap/certificate-key.ts'
import {elsewhere, TrustError} from '../errors.ts'
import {readFileIfThere, readFileSafely} from '../fs/files.ts'
import {AUTHORITIES, SERVICE_ACCOUNT_KEYS, type AuthoritySpec} from '../pki/catalog.ts'
import {certDirOf, type Plane} from './config/plane.ts'
import type {Settings} from './config/settings.ts'
import {PLANE_KEY_FILE} from './plane-key.ts'
import {formatShared} from './shared-settings.ts'

/** The Secret in which kubeadm hands the CAs of a control plane to the next one. */
export const CERTS_SECRET = {namespace: 'kube-system', name: 'kubeadm-certs'}

/** Files of the certificate folder that every machine of a control plane has, by their path in it. */
export type SharedFiles = ReadonlyMap<string, Buffer>

const LARGEST = 1024 * 1024

/** What the servers show to etcd and verify it with, by kubeadm's names: in the Secret, and in the certificate folder of a machine that joins. */
export const ETCD_FILES = {
  etcdCaFile: 'external-etcd-ca.crt',
  etcdCertFile: 'external-etcd.crt',
  etcdKeyFile: 'external-etcd.key',
} as const satisfies Partial<Record<keyof Settings, string>>

/** What all servers have in common: not a file, but sealed as one. */
export const SETTINGS_FILE = 'settings'

type EtcdFile = keyof typeof ETCD_FILES

/** `etcd/ca.crt` is `etcd-ca.crt` in the Secret, as in kubeadm, which does not look at names that it does not know. */
const keyOf = (path: string): string =>
  path === PLANE_KEY_FILE || path === SETTINGS_FILE ? `trustadm-${path}` : path.replaceAll('/', '-')

const pathsOf = (authorities: readonly AuthoritySpec[]): string[] => [
  ...authorities.flatMap(({place}) => [place.crt, place.key]),
  SERVICE_ACCOUNT_KEYS.publicKey,
  SERVICE_ACCOUNT_KEYS.privateKey,
]

/** The encrypted CAs and keys. Of a file that is not here, such as the key of an external CA, the value is empty, as in kubeadm. */
export async function sealCerts(
  plane: Plane,
  authorities: readonly AuthoritySpec[],
  key: CertificateKey,
  /** The UID of the namespace kube-system. */
  cluster: string,
): Promise<Record<string, string>> {
  const sealed = (content: Buffer | undefined) =>
    sealWith(key, content ?? Buffer.alloc(0)).toString('base64')
  const data: Record<string, string> = {}
  for (const path of pathsOf(authorities)) {
    const secret = path.endsWith('.key')
    data[keyOf(path)] = sealed(await readFileIfThere(join(certDirOf(plane), path), {secret}))
  }
  data[keyOf(SETTINGS_FILE)] = sealed(Buffer.from(formatShared(plane.settings, cluster)))
  if (plane.settings.etcdServers === undefined) return data
  const planeKey = await readFileIfThere(join(certDirOf(plane), PLANE_KEY_FILE), {secret: true})
  if (planeKey) data[keyOf(PLANE_KEY_FILE)] = sealed(planeKey)
  for (const [setting, name] of Object.entries(ETCD_FILES) as [EtcdFile, string][]) {
    const path = plane.settings[setting]
    const content = path === undefined ? path : await readFileSafely(path, {followLinks: true})
    data[name] = sealed(content)
  }
  return data
}

/** Decrypts the Secret. If one value cannot be decrypted, none is used. Empty values are left out. */
export function openCerts({data = {}}: Secret, key: CertificateKey): SharedFiles {
  const files = new Map<string, Buffer>()
  const paths = [
    ...pathsOf(AUTHORITIES),
    ...Object.values(ETCD_FILES),
    PLANE_KEY_FILE,
    SETTINGS_FILE,
  ]
  for (const path of paths) {
    const value = data[keyOf(path)]
    if (value === undefined) continue
    if (value.length > LARGEST) throw unusable(`"${keyOf(path)}" is too large`)
    const opened = openWith(key, Buffer.from(value, 'base64'))
    if (!opened) throw unusable(`"${keyOf(path)}" cannot be decrypted with this certificate key`)
    if (opened.length > 0) files.set(path, opened)
  }
  return files
}

function unusable(problem: string): TrustError {
  const {namespace, name} = CERTS_SECRET
  return new TrustError(
    'CERTS_UNUSABLE',
    `the Secret ${namespace}/${name} cannot be used: ${problem}`,
    {
      hints: [
        'check the certificate key: "init phase upload-certs" prints a new one each time',
        elsewhere(
          'upload the CAs again with "trustadm init phase upload-certs" on a machine of the control plane',
        ),
      ],
    },
  )
}
