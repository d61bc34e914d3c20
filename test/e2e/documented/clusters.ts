import {copyFile, mkdir, rename} from 'node:fs/promises'
import {makeKubeadmFolders} from '../../helpers/kubeadm-folders.ts'
import {step, type Step} from './step.ts'

/** With clusters that somebody else made, and with more machines for the control plane. */
export const clusters: Step[] = [
  step('trustadm init --kubeconfig ~/.kube/config', {
    async first(stage) {
      await mkdir(stage.file('.kube'))
      await copyFile(stage.file('plane/admin.conf'), stage.file('.kube/config'))
    },
    shows: /^Machines can find the cluster at /m,
  }),
  step('trustadm init phase cluster-info --kubeconfig FILE'),
  step('trustadm certificate check-expiration --cert-dir /etc/kubernetes/pki', {
    first: async (stage) => rename((await makeKubeadmFolders()).folder, stage.file('kubeadm')),
    shows: /^etcd-server /m,
  }),
  step('trustadm certificate renew all --cert-dir /etc/kubernetes/pki', {shows: /^etcd-server /m}),
  step('trustadm certificate certificate-key', {shows: /^[0-9a-f]{64}\n$/}),
]
