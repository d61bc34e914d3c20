import {shellWord} from '../client/printable.ts'
import {formatStored, parseStored, type TrustedClusterInfo} from '../discovery/cluster-info.ts'
import {TrustError} from '../errors.ts'
import {encodeBundle, parseBundle, uniqueCertificates} from '../pki/bundle.ts'
import {defaultNodeDir} from '../fs/default-folders.ts'
import {readFileIfThere} from '../fs/files.ts'
import {ensureFolder} from '../fs/folders.ts'
import {
  ensureFiles,
  isCurrent,
  isKubeletsFolder,
  nodeFile,
  nodeRecord,
  type NodeFile,
} from './node-files.ts'

/** Neither file is secret. */
const PUBLIC = 0o644

/** The files that say which cluster the node trusts. The first contains all that the others do. */
export function clusterInfoFiles(dir: string, info: TrustedClusterInfo): NodeFile[] {
  const kept = {path: nodeFile(dir, 'clusterInfo'), content: formatStored(info), mode: PUBLIC}
  const content = kubeletAuthorities(info)
  return content === undefined ? [kept] : [kept, {path: nodeFile(dir, 'ca'), content, mode: PUBLIC}]
}

/**
 * The content of pki/ca.crt, which kubeadm's kubelet has as its clientCAFile: the CAs of the API server, and those whose certificates
 * callers of kubelets have once these have a CA of their own.
 */
export function kubeletAuthorities({ca, issuers}: TrustedClusterInfo): string | undefined {
  const callers = issuers?.kubeletClientCa
  if (ca === undefined || callers === undefined) return ca
  return encodeBundle(uniqueCertificates([...parseBundle(ca), ...parseBundle(callers)]))
}

/** What the node knows of its cluster; undefined if it has not joined any. */
export async function readClusterInfo(dir: string): Promise<TrustedClusterInfo | undefined> {
  const path = nodeFile(dir, 'clusterInfo')
  const text = await readFileIfThere(path)
  return text && parseStored(text.toString(), path)
}

/** The files that are missing or outdated. */
export async function outdatedClusterInfo(
  dir: string,
  info: TrustedClusterInfo,
): Promise<string[]> {
  const outdated: string[] = []
  for (const file of clusterInfoFiles(dir, info))
    if (!(await isCurrent(file))) outdated.push(file.path)
  return outdated
}

export async function keepClusterInfo(dir: string, info: TrustedClusterInfo): Promise<void> {
  await ensureFolder(nodeFile(dir, 'pki'))
  await ensureFiles(clusterInfoFiles(dir, info), nodeRecord(dir))
}

/** A folder belongs to one cluster. A rotation of its CA does not change that: both CAs are trusted for a time. */
export async function requireSameCluster(dir: string, {ca, server}: TrustedClusterInfo) {
  const known = await readFileIfThere(nodeFile(dir, 'ca'))
  if (!known || ca === undefined) return
  const trusted = fingerprintsIn(known.toString(), nodeFile(dir, 'ca'))
  if (parseBundle(ca).some(({fingerprint}) => trusted.has(fingerprint))) return
  const flag = dir === defaultNodeDir() ? '' : ` --dir ${shellWord(dir)}`
  throw new TrustError(
    'CONFLICT',
    `${dir} belongs to a node of another cluster, or its CA was rotated while this machine was off: it is not the one of ${server}`,
    {
      hints: (await isKubeletsFolder(dir))
        ? [
            `if the CA was rotated, move ${shellWord(nodeFile(dir, 'ca'))} away and run the command again: the key of this machine is kept`,
            'for another cluster, take this machine out of its old one first, with "kubeadm reset"',
          ]
        : [
            `if the CA was rotated, run "trustadm node leave${flag}" here, then join again`,
            'for another cluster, use another folder with --dir',
            `or, if that cluster no longer exists, move ${dir} away first`,
          ],
    },
  )
}

function fingerprintsIn(pem: string, path: string): Set<string> {
  try {
    return new Set(parseBundle(pem).map(({fingerprint}) => fingerprint))
  } catch (cause) {
    throw new TrustError('CERTIFICATE_INVALID', `${path} does not contain the CA of a cluster`, {
      cause,
      hints: ['find out where it came from, then move it away and run the command again'],
    })
  }
}
