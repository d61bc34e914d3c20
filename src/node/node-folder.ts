import {readdir} from 'node:fs/promises'
import {join} from 'node:path'
import {parseKubeconfig} from '../client/kubeconfig.ts'
import {nodeOfUser, nodeUser} from '../csr/node-names.ts'
import {lookAt} from '../fs/file-checks.ts'
import {readFileIfThere} from '../fs/files.ts'
import {parseCertificate} from '../pki/certificate.ts'
import {findCertDir, pendingKeyIn} from './cert-dir.ts'
import {kubeletAuthorities, readClusterInfo} from './cluster-info-store.ts'
import {BOOTSTRAP_USER} from './kubeconfigs.ts'
import {nodeFile} from './node-files.ts'

/** What a folder contains of a node, also of one that is only half there. */
export interface NodeFolder {
  dir: string
  certDir: string
  /** Undefined if nothing in the folder says it. */
  nodeName: string | undefined
  /** Files that trustadm wrote, in the order in which they can be removed. */
  files: string[]
  /** Files with the same names that somebody else wrote. */
  foreign: string[]
}

/** Both kinds of certificates, and the links to the current ones. */
const PAIR = /^kubelet-(client|server)-(\d{4}(-\d\d){5}|current)\.pem$/

const textOf = async (path: string): Promise<string | undefined> =>
  (await readFileIfThere(path).catch(() => undefined))?.toString()

/** The name of the user in a kubeconfig: trustadm, the kubelet and kubeadm use different ones. */
async function userIn(path: string): Promise<string | undefined> {
  try {
    return parseKubeconfig((await textOf(path)) ?? '').users[0]?.name
  } catch {
    return undefined
  }
}

async function ownerOf(certDir: string): Promise<string | undefined> {
  // The link is followed: a folder that is broken otherwise still says whose it is.
  const link = join(certDir, 'kubelet-client-current.pem')
  const pem = await readFileIfThere(link, {followLinks: true}).catch(() => undefined)
  try {
    return pem && nodeOfUser(parseCertificate(pem.toString()).subject.commonName)
  } catch {
    return undefined
  }
}

/** Whether pki/ca.crt is as trustadm writes it. */
async function isKept(dir: string): Promise<boolean> {
  const info = await readInfo(dir)
  return (await textOf(nodeFile(dir, 'ca'))) === (info && kubeletAuthorities(info))
}

/** The folder of a node; undefined if no node has joined from it. */
export async function findNodeFolder(
  dir: string,
  namedCertDir?: string,
): Promise<NodeFolder | undefined> {
  const kubeconfig = nodeFile(dir, 'kubeconfig')
  const clusterInfo = nodeFile(dir, 'clusterInfo')
  const user = await userIn(kubeconfig)
  const hasKubeconfig = user !== undefined && nodeOfUser(user) !== undefined
  if (!hasKubeconfig && !(await lookAt(clusterInfo))) return undefined
  const certDir = await findCertDir(dir, namedCertDir)
  const nodeName = (user && nodeOfUser(user)) ?? (await ownerOf(certDir))
  const isOf = {
    pairs: (user === undefined || hasKubeconfig) && nodeName !== undefined,
    bootstrap: (await userIn(nodeFile(dir, 'bootstrapKubeconfig'))) === BOOTSTRAP_USER,
    ca: await isKept(dir),
  }
  const candidates: [path: string, isOurs: boolean][] = [
    [nodeFile(dir, 'bootstrapKubeconfig'), isOf.bootstrap],
    [pendingKeyIn(certDir), true],
    ...(await pairsIn(certDir, isOf.pairs ? nodeName : undefined)),
    [nodeFile(dir, 'ca'), isOf.ca],
    [nodeFile(dir, 'agentState'), true],
    [nodeFile(dir, 'issuanceHead'), true],
    [nodeFile(dir, 'renewRequest'), true],
    [nodeFile(dir, 'unitNote'), true],
    // These last: until they are gone, the command can be run again.
    [kubeconfig, hasKubeconfig],
    [clusterInfo, true],
  ]
  const there: typeof candidates = []
  for (const one of candidates) if (await lookAt(one[0])) there.push(one)
  const pathsOf = (wanted: boolean) =>
    there.filter(([, isOurs]) => isOurs === wanted).map(([path]) => path)
  return {dir, certDir, nodeName, files: pathsOf(true), foreign: pathsOf(false)}
}

const readInfo = async (dir: string) => await readClusterInfo(dir).catch(() => undefined)

/** The certificates in a folder, links first, and whether each is of that node. */
async function pairsIn(
  certDir: string,
  nodeName: string | undefined,
): Promise<[path: string, isOurs: boolean][]> {
  const names = (await lookAt(certDir)) ? await readdir(certDir) : []
  const pairs = names
    .filter((name) => PAIR.test(name))
    .sort()
    .toReversed()
  return await Promise.all(
    pairs.map(async (name): Promise<[string, boolean]> => {
      const path = join(certDir, name)
      const isLink = name.endsWith('-current.pem')
      return [path, nodeName !== undefined && (isLink || (await isOfNode(path, nodeName)))]
    }),
  )
}

async function isOfNode(path: string, nodeName: string): Promise<boolean> {
  try {
    const {subject} = parseCertificate((await textOf(path)) ?? '')
    return subject.commonName === nodeUser(nodeName)
  } catch {
    return false
  }
}
