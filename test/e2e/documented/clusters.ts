import assert from 'node:assert/strict'
import {copyFile, mkdir, rename, stat} from 'node:fs/promises'
import {makeKubeadmFolders} from '../../helpers/kubeadm-folders.ts'
import type {Stage} from './stage.ts'
import {must, step, type Step} from './step.ts'

const CERTIFICATE_KEY = /--certificate-key ([0-9a-f]{64})/

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
  step('trustadm init --upload-certs', {shows: CERTIFICATE_KEY}),
  step(
    'trustadm join 10.0.0.1:6443 --token … --discovery-token-ca-cert-hash … --control-plane --certificate-key …',
    {
      async first(stage: Stage) {
        const [, key = ''] =
          CERTIFICATE_KEY.exec(await must(stage, 'trustadm init --upload-certs')) ?? []
        stage.values.set('certificate key', key)
      },
      on: {host: 'control-plane-2', plane: 'second'},
      shows: /This machine has the CAs of the control plane/,
      then: async (stage) => assert.ok((await stat(stage.file('second/pki/ca.key'))).size),
    },
  ),
]
