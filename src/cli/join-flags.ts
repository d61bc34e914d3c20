import * as Args from '@oclif/core/args'
import * as Flags from '@oclif/core/flags'
import {TrustError} from '../errors.ts'
import {nodeFlags} from './node-flags.ts'

const list = {multiple: true, multipleNonGreedy: true, delimiter: ','} as const

export const endpoints = Args.string({
  multiple: true,
  ignoreStdin: true,
  description:
    'the address of an API server, as host:port (6443 without a port); with several, the first that proves to be the cluster is used, and the others are stored',
})

/** kubeadm's flags of `join`, and ours; `join phase` has the same. */
export const joinFlags = {
  ...nodeFlags,
  config: Flags.string({
    helpValue: '<file>',
    summary:
      "a file with kubeadm's JoinConfiguration (kubeadm.k8s.io/v1beta4), or with ours; flags win over it",
  }),
  token: Flags.string({
    helpValue: '<token>',
    summary:
      'the token to identify the cluster and to authenticate with; - reads stdin [default: $TRUSTADM_TOKEN]',
  }),
  'token-file': Flags.string({
    helpValue: '<file>',
    exclusive: ['token'],
    summary:
      'a file with that token, which hides it from other users of this machine; with --discovery-file it is only for authentication',
  }),
  'discovery-token': Flags.string({
    helpValue: '<token>',
    summary: 'the token to identify the cluster with, if different; - reads stdin',
  }),
  'tls-bootstrap-token': Flags.string({
    helpValue: '<token>',
    summary: 'the token to authenticate with, if different; - reads stdin',
  }),
  'discovery-token-ca-cert-hash': Flags.string({
    ...list,
    helpValue: '<hashes>',
    summary:
      'the CA of the cluster, as "sha256:" and the hash of its public key, separated by commas; may be repeated',
  }),
  'discovery-token-unsafe-skip-ca-verification': Flags.boolean({
    summary: 'trust a CA that is verified only by the token',
  }),
  'discovery-file': Flags.string({
    helpValue: '<file>',
    summary:
      'a kubeconfig without credentials that says which cluster to trust: a path, an https:// URL, or - for stdin',
  }),
  'discovery-file-ca': Flags.string({
    helpValue: '<file>',
    dependsOn: ['discovery-file'],
    summary: "the CAs to verify the host of that URL with, instead of the system's",
  }),
  'bootstrap-kubeconfig': Flags.string({
    helpValue: '<file>',
    summary:
      'a kubeconfig with a client certificate or a token: it says which cluster to trust and authenticates this machine, instead of a bootstrap token',
  }),
  'node-name': Flags.string({
    helpValue: '<name>',
    summary: 'the name of this machine in the cluster [default: its host name]',
  }),
  timeout: Flags.string({
    helpValue: '<duration>',
    summary:
      'how long to wait for the cluster and for the certificate, as in "10m" [default: 5s and 5m]',
  }),
  'ignore-preflight-errors': Flags.string({
    ...list,
    helpValue: '<checks>',
    summary:
      'preflight checks that only warn: Clock, Folder or all, separated by commas; may be repeated',
  }),
  // Flags of kubeadm that have no effect here, or that are refused with a reason.
  'cri-socket': Flags.string({hidden: true, helpValue: '<socket>', summary: 'not needed here'}),
  patches: Flags.string({hidden: true, helpValue: '<folder>', summary: 'not needed here'}),
  v: Flags.string({hidden: true, char: 'v', helpValue: '<level>', summary: "kubeadm's --verbose"}),
}

const ofControlPlane = {helpGroup: 'CONTROL PLANE', dependsOn: ['control-plane']}

/** kubeadm's flags for a machine that becomes a part of the control plane, and ours of `init` for its addresses. */
export const joinPlaneFlags = {
  'control-plane': Flags.boolean({
    helpGroup: 'CONTROL PLANE',
    exclusive: ['for-kubelet', 'node-run', 'dry-run', 'skip-phases', 'bootstrap-kubeconfig'],
    summary:
      'make this machine a part of the control plane, with a server of its own on the same etcd, instead of a node; --dir is then the folder of a control plane',
  }),
  'certificate-key': Flags.string({
    ...ofControlPlane,
    helpValue: '<key>',
    summary: 'the key that "init --upload-certs" printed; - reads stdin',
  }),
  'apiserver-advertise-address': Flags.string({
    ...ofControlPlane,
    helpValue: '<address>',
    summary: 'the IP address that clients use [default: the first of this machine]',
  }),
  'apiserver-bind-port': Flags.string({
    ...ofControlPlane,
    helpValue: '<port>',
    summary: 'the port to listen on; 0 picks a free one, once [default: 6443]',
  }),
  'apiserver-cert-extra-sans': Flags.string({
    ...ofControlPlane,
    ...list,
    helpValue: '<names>',
    summary: 'additional DNS names and IP addresses for the serving certificate',
  }),
  'bind-address': Flags.string({
    ...ofControlPlane,
    helpValue: '<address>',
    summary: 'the IP address to listen on [default: all of this machine]',
  }),
  'etcd-servers': Flags.string({
    ...ofControlPlane,
    helpValue: '<urls>',
    summary: 'addresses of the members of the etcd cluster, if they differ on this machine',
  }),
  'etcd-cafile': Flags.string({
    ...ofControlPlane,
    helpValue: '<file>',
    summary: 'the CA of the etcd servers [default: as uploaded]',
  }),
  'etcd-certfile': Flags.string({
    ...ofControlPlane,
    helpValue: '<file>',
    summary: 'the client certificate for etcd [default: as uploaded]',
  }),
  'etcd-keyfile': Flags.string({
    ...ofControlPlane,
    helpValue: '<file>',
    summary: 'the key of --etcd-certfile [default: as uploaded]',
  }),
  'etcd-prefix': Flags.string({
    ...ofControlPlane,
    helpValue: '<prefix>',
    summary: 'what the keys of the cluster in etcd start with [default: as on the other machines]',
  }),
}

export interface JoinFlagValues {
  'certificate-key'?: string | undefined
  dir?: string | undefined
  'cert-dir'?: string | undefined
  config?: string | undefined
  token?: string | undefined
  'token-file'?: string | undefined
  'discovery-token'?: string | undefined
  'tls-bootstrap-token'?: string | undefined
  'discovery-token-ca-cert-hash'?: string[] | undefined
  'discovery-token-unsafe-skip-ca-verification'?: boolean | undefined
  'discovery-file'?: string | undefined
  'discovery-file-ca'?: string | undefined
  'bootstrap-kubeconfig'?: string | undefined
  'node-name'?: string | undefined
  timeout?: string | undefined
  'ignore-preflight-errors'?: string[] | undefined
  'cri-socket'?: string | undefined
  patches?: string | undefined
  v?: string | undefined
}

/** For flags and settings of kubeadm that are for a control plane. */
export function controlPlaneRefused(what: string): TrustError {
  return new TrustError('USAGE', `${what} is for a control plane, and this creates a node`, {
    hints: [
      'leave it out to join as a node',
      'to add a machine to a control plane, use "trustadm join --control-plane" with flags',
    ],
  })
}
