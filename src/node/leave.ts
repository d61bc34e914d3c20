import {readdir, rm, rmdir} from 'node:fs/promises'
import {dirname, join} from 'node:path'
import {connect, waitingAtMost} from '../client/connect.ts'
import {nodeOfUser} from '../csr/node-names.ts'
import {TrustError, hasCode, messageOf, systemCode} from '../errors.ts'
import {defaultNodeDir} from '../fs/default-folders.ts'
import {lookAt, unwritable} from '../fs/file-checks.ts'
import {lockFolder} from '../fs/folder-lock.ts'
import {ensureFolder, requireSafeFolder, syncFolder} from '../fs/folders.ts'
import {removeLeftovers} from '../fs/temporary-names.ts'
import {pinOf} from '../pki/pins.ts'
import type {Clock} from '../runtime.ts'
import {withCertificate} from './cluster-access.ts'
import {readClusterInfo} from './cluster-info-store.ts'
import {CredentialStore, type StoredCredential} from './credential-store.ts'
import {forgetNode, notForgotten, type Forgotten} from './forget-node.ts'
import {findNodeFolder, type NodeFolder} from './node-folder.ts'
import {isKubeletsFolder, nodeFile, readNodeRecord} from './node-files.ts'
import {removeUnit, type RemovedUnit} from './systemd-unit.ts'

/** What `node leave` prints. */
export interface LeaveReport {
  nodeName: string | null
  dir: string
  /** Null if nothing on this machine says which node it was. */
  cluster: Forgotten | null
  removed: string[]
  /** The systemd unit that `join` installed; null if there is none. */
  unit: RemovedUnit | null
  /** What is left in the node's folders, because trustadm has not recorded that it made it, or somebody has changed it since. */
  kept: string[]
}

export interface LeaveOptions {
  clock: Clock
  /** Whose rights are used instead of the node's. */
  operator?: Operator | undefined
}

interface Operator {
  kubeconfig: string
  /** Entries of the kubeconfig to use instead of the current ones. */
  context?: string | undefined
  cluster?: string | undefined
  user?: string | undefined
  /** Milliseconds to wait for each response. */
  timeout?: number | undefined
}

/** What there is to leave. */
export async function planLeave(dir: string, certDir?: string): Promise<NodeFolder> {
  const folder = await findNodeFolder(dir, certDir)
  if (folder) return folder
  throw new TrustError('NOT_FOUND', `there is no node in ${dir}`, {
    hints: [
      ...((await isKubeletsFolder(dir))
        ? ['trustadm has not joined this machine: leave with what joined it, as "kubeadm reset"']
        : []),
      dir === defaultNodeDir()
        ? 'name the folder of the node with --dir'
        : 'check the name: the folder of a node contains cluster-info.yaml',
    ],
  })
}

/**
 * Takes the node out of the cluster, then removes what trustadm wrote for it. The cluster comes first, because that needs the
 * certificate; after an interruption, a second run finishes.
 */
export async function leave(
  dir: string,
  certDir: string | undefined,
  options: LeaveOptions,
): Promise<LeaveReport> {
  const {removed, kept, ...done} = await alone(dir, async () => {
    const folder = await planLeave(dir, certDir)
    const {nodeName, files, foreign} = folder
    const cluster = nodeName === undefined ? null : await forget(nodeName, folder, options)
    const unrecorded = nodeName === undefined ? await findUnrecorded(folder) : null
    const unit = (await removeUnit(nodeFile(dir, 'unitNote'))) ?? null
    for (const one of [folder.certDir, nodeFile(dir, 'pki'), dir]) await removeLeftovers(one)
    for (const file of files) await remove(file)
    return {
      nodeName: nodeName ?? unrecorded?.nodeName ?? null,
      dir,
      cluster: cluster ?? unrecorded?.cluster ?? null,
      unit,
      removed: files,
      kept: foreign,
    }
  })
  return {...done, removed, kept: [...new Set([...kept, ...(await removeEmptyFolders(dir))])]}
}

/** The folders that `join` creates; one of --cert-dir may belong to a kubelet. */
const ownFolders = (dir: string): string[] => [
  nodeFile(dir, 'pki'),
  nodeFile(dir, 'joinLock'),
  nodeFile(dir, 'lock'),
  dir,
]

/** Removes the folders of the node, and returns the files that are left in them. */
async function removeEmptyFolders(dir: string): Promise<string[]> {
  for (const lock of [nodeFile(dir, 'joinLock'), nodeFile(dir, 'lock')]) {
    for (const name of (await lookAt(lock)) ? await readdir(lock) : []) {
      if (LOCK.test(name)) await rm(join(lock, name), {force: true})
    }
  }
  const folders = ownFolders(dir)
  const left: string[] = []
  for (const folder of folders) left.push(...(await removeIfEmpty(folder)))
  return left.filter((path) => !folders.includes(path))
}

/** Works while no other process can. `node run` keeps its folder locked, and would write the files again. */
async function alone<Result>(dir: string, work: () => Promise<Result>): Promise<Result> {
  const lock = nodeFile(dir, 'lock')
  await requireSafeFolder(dir)
  await ensureFolder(lock)
  const release = await lockFolder(lock).catch((error: unknown) => {
    throw hasCode(error, 'STORE_LOCKED') ? inUse(dir, error) : error
  })
  try {
    return await work()
  } finally {
    await release()
  }
}

const inUse = (dir: string, cause: TrustError): TrustError =>
  new TrustError('CONFLICT', `another process is working in ${dir}`, {
    cause,
    facts: cause.facts,
    hints: ['stop "trustadm node run" first, with "systemctl disable --now" if it is a service'],
  })

async function forget(
  nodeName: string,
  {dir, certDir}: NodeFolder,
  {clock, operator}: LeaveOptions,
): Promise<Forgotten> {
  const current = await new CredentialStore(certDir).read().catch(() => undefined)
  const pin = current && pinOf(current.certificate)
  if (operator) {
    const {kubeconfig, timeout, ...entries} = operator
    const client = await connect(kubeconfig, {...entries, ...waitingAtMost(timeout)})
    try {
      return await forgetNode(client, nodeName, pin)
    } finally {
      await client.close()
    }
  }
  try {
    const info = await readClusterInfo(dir)
    if (!info || !current) return notForgotten(nodeName, 'this machine has no certificate any more')
    if (!isValid(current, clock.now())) {
      return notForgotten(nodeName, 'the certificate of this machine is not valid any more')
    }
    return await withCertificate(info, current, (client) => forgetNode(client, nodeName, pin))
  } catch (error) {
    return notForgotten(nodeName, messageOf(error))
  }
}

/** A node that joined with a release which recorded nothing: what is in the folder may be somebody else's, so an operator decides. */
async function findUnrecorded({dir, certDir}: NodeFolder) {
  if (await readNodeRecord(dir)) return null
  const current = await new CredentialStore(certDir).read().catch(() => undefined)
  const nodeName = current && nodeOfUser(current.certificate.subject.commonName)
  if (nodeName === undefined) return null
  const reason = 'trustadm has not recorded that it made this machine join'
  return {nodeName, cluster: notForgotten(nodeName, reason)}
}

const isValid = ({certificate}: StoredCredential, now: Date): boolean =>
  certificate.notBefore <= now && certificate.notAfter > now

async function remove(file: string): Promise<void> {
  try {
    await rm(file, {force: true})
    await syncFolder(dirname(file))
  } catch (error) {
    throw unwritable(file, error)
  }
}

const LOCK = /^lock[.-]/

/** Removes the folder, unless it has files; returns those. */
async function removeIfEmpty(folder: string): Promise<string[]> {
  if (!(await lookAt(folder))) return []
  try {
    await rmdir(folder)
    return []
  } catch (error) {
    if (systemCode(error) !== 'ENOTEMPTY' && systemCode(error) !== 'EEXIST') throw error
    return (await readdir(folder)).map((name) => join(folder, name))
  }
}
