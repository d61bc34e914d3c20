import {readdir, readlink} from 'node:fs/promises'
import {dirname, join, resolve} from 'node:path'
import {nodeOfUser} from '../csr/node-names.ts'
import {lookAt} from '../fs/file-checks.ts'
import {findCertDir, pendingKeyIn} from './cert-dir.ts'
import {CredentialStore} from './credential-store.ts'
import {nodeFile, nodeRecord, readNodeRecord} from './node-files.ts'

/** What a folder contains of a node, also of one that is only half there. */
export interface NodeFolder {
  dir: string
  certDir: string
  /** Undefined if nothing in the folder says it. */
  nodeName: string | undefined
  /** Files that trustadm has recorded that it made, in the order in which they can be removed. */
  files: string[]
  /** Files with the same names that somebody else wrote, or has changed since. */
  foreign: string[]
}

/** Both kinds of certificates, and the links to the current ones. */
const PAIR = /^kubelet-(client|server)-(\d{4}(-\d\d){5}|current)\.pem$/

/**
 * The folder of a node; undefined if no node has joined from it. The folder of a kubeadm control plane has files of the same names:
 * only what is recorded counts, never what a file looks like.
 */
export async function findNodeFolder(
  dir: string,
  namedCertDir?: string,
): Promise<NodeFolder | undefined> {
  const clusterInfo = nodeFile(dir, 'clusterInfo')
  const known = await readNodeRecord(dir)
  if (!known && !(await lookAt(clusterInfo))) return undefined
  const certDir = await findCertDir(dir, namedCertDir)
  const shared = [
    nodeFile(dir, 'bootstrapKubeconfig'),
    pendingKeyIn(certDir),
    ...(await pairsIn(certDir)),
    nodeFile(dir, 'ca'),
  ]
  /** Nobody else has files of these names. */
  const own = (['agentState', 'issuanceHead', 'renewRequest', 'unitNote'] as const).map((name) =>
    nodeFile(dir, name),
  )
  // These last: until they are gone, the command can be run again.
  const last = [nodeFile(dir, 'kubeconfig'), clusterInfo]
  const [files, foreign]: [string[], string[]] = [[], []]
  const record = nodeRecord(dir)
  for (const path of [...shared, ...own, ...last]) {
    const stats = await lookAt(path)
    if (!stats) continue
    const made = stats.isSymbolicLink() ? resolve(dirname(path), await readlink(path)) : path
    const isOurs = own.includes(path) || (await record.isMade(made))
    ;(isOurs ? files : foreign).push(path)
  }
  if (known) files.push(nodeFile(dir, 'manifest'))
  const nodeName = known?.nodeName ?? (await nodeOfOwn(certDir, files))
  return {dir, certDir, nodeName, files, foreign}
}

/** The node of the certificate in use, if trustadm got that: a node that joined before there were records has one since it was renewed. */
async function nodeOfOwn(certDir: string, own: readonly string[]): Promise<string | undefined> {
  const store = new CredentialStore(certDir)
  if (!own.includes(store.current)) return undefined
  const credential = await store.read().catch(() => undefined)
  return credential && nodeOfUser(credential.certificate.subject.commonName)
}

/** The certificates in a folder, links first. */
async function pairsIn(certDir: string): Promise<string[]> {
  const names = (await lookAt(certDir)) ? await readdir(certDir) : []
  const pairs = names.filter((name) => PAIR.test(name))
  return pairs
    .sort()
    .toReversed()
    .map((name) => join(certDir, name))
}
