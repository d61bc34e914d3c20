import * as Flags from '@oclif/core/flags'
import {foldersOf, type KubeadmFolders} from '../control-plane/kubeadm-folders/folders.ts'

/** The flags of commands that also work on the files of a control plane that kubeadm made. */
export const kubeadmFolderFlags = {
  'cert-dir': Flags.string({
    helpGroup: 'KUBEADM',
    helpValue: '<folder>',
    exclusive: ['dir'],
    summary:
      'the certificates of a control plane that kubeadm made, as /etc/kubernetes/pki [default: pki in --kubeconfig-dir]',
  }),
  'kubeconfig-dir': Flags.string({
    helpGroup: 'KUBEADM',
    helpValue: '<folder>',
    exclusive: ['dir'],
    summary: 'its kubeconfigs, as /etc/kubernetes [default: the folder that contains --cert-dir]',
  }),
}

/** The folders of kubeadm that the flags name, if any. */
export const kubeadmFolders = (flags: {
  'cert-dir'?: string | undefined
  'kubeconfig-dir'?: string | undefined
}): KubeadmFolders | undefined =>
  foldersOf({certDir: flags['cert-dir'], kubeconfigDir: flags['kubeconfig-dir']})
