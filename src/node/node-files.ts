import {join} from 'node:path'

/** The files of a node, in the folder of `trustadm join`. The kubelet's are named as the kubelet and kubeadm name them. */
export const NODE_FILES = {
  kubeconfig: 'kubelet.conf',
  bootstrapKubeconfig: 'bootstrap-kubelet.conf',
  clusterInfo: 'cluster-info.yaml',
  pki: 'pki',
  ca: 'pki/ca.crt',
  /** The key of a request that is under way. */
  pendingKey: 'pki/kubelet-client.key.tmp',
  lock: 'lock',
} as const

export const nodeFile = (dir: string, file: keyof typeof NODE_FILES): string =>
  join(dir, NODE_FILES[file])
