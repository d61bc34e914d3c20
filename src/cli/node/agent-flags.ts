import * as Flags from '@oclif/core/flags'
import {joinFlags} from '../join-flags.ts'
import {nodeFlags} from '../node-flags.ts'

/** For commands that renew the certificates of a node. */
export const renewalFlags = {
  ...nodeFlags,
  'bootstrap-kubeconfig': joinFlags['bootstrap-kubeconfig'],
  'on-change': Flags.string({
    helpValue: '<command>',
    summary:
      'a shell command to run after a certificate or the CA bundle has changed; $TRUSTADM_CHANGED says what [default in the folder of a kubelet: restart it]',
  }),
  'cert-duration': Flags.string({
    helpValue: '<duration>',
    summary:
      "how long new certificates should be valid, at least 10m; the signer may shorten it [default: the signer's]",
  }),
}

export const agentFlags = {
  ...renewalFlags,
  'node-name': {
    ...joinFlags['node-name'],
    summary:
      'the name with which a machine joins first; one that has joined keeps its name [default: its host name]',
  },
  serving: Flags.boolean({
    summary:
      'also keep a serving certificate, kubelet-server-current.pem, for the names and addresses of the Node',
  }),
  'rotate-at': Flags.string({
    helpValue: '<from-to>',
    summary:
      'the part of its life in which a certificate is renewed [default: 0.7-0.9; in the folder of a kubelet 0.92-0.96]',
  }),
  'feature-gates': Flags.string({
    helpValue: '<gates>',
    multiple: true,
    multipleNonGreedy: true,
    delimiter: ',',
    summary:
      'RotateKubeletClientCertificate=false only loads the client certificate, and warns when it is due',
  }),
}

export interface RenewalFlagValues {
  dir?: string | undefined
  'cert-dir'?: string | undefined
  'bootstrap-kubeconfig'?: string | undefined
  'cert-duration'?: string | undefined
  'on-change'?: string | undefined
}

export interface AgentFlagValues extends RenewalFlagValues {
  'node-name'?: string | undefined
  serving?: boolean | undefined
  'rotate-at'?: string | undefined
  'feature-gates'?: string[] | undefined
}
