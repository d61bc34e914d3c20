import {join} from 'node:path'
import {hasCode} from '../errors.ts'
import {lookAt, unreadable} from '../fs/file-checks.ts'
import {readFileIfThere, writeFilesSafely} from '../fs/files.ts'
import {
  forgetMade,
  isAsMade,
  noteNodeName,
  notesMade,
  readMadeFiles,
  readManifest,
} from '../fs/made-files.ts'

/** The files of a node, in the folder of `trustadm join`. The kubelet's files have the names that kubeadm uses. */
const NODE_FILES = {
  kubeconfig: 'kubelet.conf',
  bootstrapKubeconfig: 'bootstrap-kubelet.conf',
  clusterInfo: 'cluster-info.yaml',
  /** What `node run` has done. */
  agentState: 'node-state.json',
  /** The newest line of the issuance log that this node has seen. */
  issuanceHead: 'issuance-head',
  /** Which systemd unit `join` installed. */
  unitNote: 'node-unit.json',
  /** Asks a running `node run` to renew. */
  renewRequest: 'renew-request',
  /** What trustadm has made, and for which node. */
  manifest: 'node-manifest.json',
  pki: 'pki',
  ca: 'pki/ca.crt',
  /** Only on a machine of a control plane. */
  caKey: 'pki/ca.key',
  /** Held by the process that works in the folder. */
  lock: 'lock',
  /** Held by a `join` from when it wants the folder until it ends: a running `node run` lets go of the folder meanwhile. */
  joinLock: 'lock/join',
} as const

export const nodeFile = (dir: string, file: keyof typeof NODE_FILES): string =>
  join(dir, NODE_FILES[file])

/** What is recorded of the files that trustadm makes for a node: nothing else is removed. */
export interface NodeRecord {
  /** To be called before they are written. */
  note(files: readonly {path: string; data: string}[]): Promise<void>
  noteName(nodeName: string): Promise<void>
  /** Whether trustadm has made the file, and nobody has changed it since. */
  isMade(path: string): Promise<boolean>
  /** For a file that was removed. */
  forget(path: string): Promise<void>
}

export function nodeRecord(dir: string): NodeRecord {
  const home = {dir, manifest: NODE_FILES.manifest}
  return {
    note: (files) => notesMade(home)(files).catch(unlessDamaged),
    noteName: (nodeName) => noteNodeName(home, nodeName),
    isMade: async (path) =>
      (await isAsMade(home, await readMadeFiles(home), path).catch(() => false)) === true,
    forget: (path) => forgetMade(home, path).catch(unlessDamaged),
  }
}

/** A damaged record must not keep a node from renewing: the agent reports it, and what it cannot record counts as made by others. */
function unlessDamaged(error: unknown): void {
  if (!hasCode(error, 'CONFIG_INVALID')) throw error
}

/** The node that a folder was made for; undefined if trustadm has made nothing there. */
export const readNodeRecord = async (dir: string): Promise<{nodeName?: string} | undefined> =>
  await readManifest({dir, manifest: NODE_FILES.manifest})

/**
 * Whether trustadm has neither joined nor made anything in a folder that has a kubelet.conf, as on a machine that joined with kubeadm. Its
 * files stay what they are: no file is taken over as trustadm's own, and only what has to change in them does.
 */
export async function isKubeletsFolder(dir: string): Promise<boolean> {
  const has = async (file: 'kubeconfig' | 'clusterInfo' | 'manifest') => {
    const path = nodeFile(dir, file)
    const stats = await lookAt(path).catch((error: unknown) => {
      throw unreadable(path, error)
    })
    return stats !== undefined
  }
  return (await has('kubeconfig')) && !(await has('clusterInfo')) && !(await has('manifest'))
}

export interface NodeFile {
  path: string
  content: string
  /** By default readable by its owner only. */
  mode?: number
}

const OWN = 0o600
const PERMISSIONS = 0o777

/** Whether the file has that content and that mode. */
export async function isCurrent({path, content, mode = OWN}: NodeFile): Promise<boolean> {
  const text = await readFileIfThere(path)
  if (!text?.equals(Buffer.from(content))) return false
  const stats = await lookAt(path)
  return stats !== undefined && (stats.mode & PERMISSIONS & ~mode) === 0
}

/** Writes the file unless it is current, and records it if there is a record. Returns whether it wrote it. */
export async function ensureFile(
  file: NodeFile,
  record?: Pick<NodeRecord, 'note'>,
): Promise<boolean> {
  return (await ensureFiles([file], record)).length > 0
}

/** Writes those that are not current, together. Returns their paths. */
export async function ensureFiles(
  files: readonly NodeFile[],
  record?: Pick<NodeRecord, 'note'>,
): Promise<string[]> {
  const outdated: NodeFile[] = []
  for (const file of files) if (!(await isCurrent(file))) outdated.push(file)
  if (outdated.length === 0) return []
  await record?.note(outdated.map(({path, content}) => ({path, data: content})))
  await writeFilesSafely(
    outdated.map(({path, content, mode = OWN}) => ({path, data: content, mode})),
  )
  return outdated.map(({path}) => path)
}
