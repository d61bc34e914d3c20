import * as Args from '@oclif/core/args'
import * as Flags from '@oclif/core/flags'

const list = {multiple: true, multipleNonGreedy: true, delimiter: ','} as const

export const endpoints = Args.string({
  multiple: true,
  ignoreStdin: true,
  description:
    'the address of an API server, as host:port; of several, the first that proves to be the cluster is taken, and the others are remembered',
})

const nodeDir = Flags.string({
  helpGroup: 'COMMON',
  helpValue: '<folder>',
  summary:
    'the folder of the node [default: $TRUSTADM_NODE_DIR; else /var/lib/trustadm-node for root, ~/.trustadm-node for others]',
})

/** kubeadm's flags of `join`, and ours; `join phase` has the same. */
export const joinFlags = {
  dir: nodeDir,
  config: Flags.string({
    helpValue: '<file>',
    summary:
      "a file with kubeadm's JoinConfiguration (kubeadm.k8s.io/v1beta4), or with ours; flags win over it",
  }),
  token: Flags.string({
    helpValue: '<token>',
    summary:
      'the token to find the cluster by and to be let in by; - reads it from the standard input [default: $TRUSTADM_TOKEN]',
  }),
  'token-file': Flags.string({
    helpValue: '<file>',
    exclusive: ['token'],
    summary:
      'a file with that token, where no other user of this machine can see it; with --discovery-file it is only to be let in by',
  }),
  'discovery-token': Flags.string({
    helpValue: '<token>',
    summary: 'the token to find the cluster by, where it is another one; - as above',
  }),
  'tls-bootstrap-token': Flags.string({
    helpValue: '<token>',
    summary: 'the token to be let in by, where it is another one; - as above',
  }),
  'discovery-token-ca-cert-hash': Flags.string({
    ...list,
    helpValue: '<hashes>',
    summary:
      'the CA of the cluster, as "sha256:" and the hash of its public key, separated by commas; may be repeated',
  }),
  'discovery-token-unsafe-skip-ca-verification': Flags.boolean({
    summary: 'trust a CA that only the token vouches for',
  }),
  'discovery-file': Flags.string({
    helpValue: '<file>',
    summary:
      'a kubeconfig without credentials that says which cluster to trust: a path, an https:// URL, or - for the standard input',
  }),
  'discovery-file-ca': Flags.string({
    helpValue: '<file>',
    dependsOn: ['discovery-file'],
    summary: "the CAs for the host of that URL, in place of the system's",
  }),
  'node-name': Flags.string({
    helpValue: '<name>',
    summary: 'the name of this machine in the cluster [default: its host name]',
  }),
  timeout: Flags.string({
    helpValue: '<duration>',
    summary:
      'how long to wait for the cluster, and for the certificate, as in "10m" [default: 5s for the one, 5m for the other]',
  }),
  'ignore-preflight-errors': Flags.string({
    ...list,
    helpValue: '<checks>',
    summary:
      'checks whose failure is only a warning: Clock, Folder or all, separated by commas; may be repeated',
  }),
  // Parts of kubeadm's lines that need nothing here, or are refused with a reason.
  'cri-socket': Flags.string({hidden: true, helpValue: '<socket>', summary: 'not needed here'}),
  patches: Flags.string({hidden: true, helpValue: '<folder>', summary: 'not needed here'}),
  v: Flags.string({hidden: true, char: 'v', helpValue: '<level>', summary: "kubeadm's --verbose"}),
  'control-plane': Flags.boolean({hidden: true, summary: 'refused: a node joins here'}),
  'certificate-key': Flags.string({hidden: true, summary: 'refused: a node joins here'}),
  'apiserver-advertise-address': Flags.string({hidden: true, summary: 'for control planes'}),
  'apiserver-bind-port': Flags.string({hidden: true, summary: 'for control planes'}),
}

export interface JoinFlagValues {
  dir?: string | undefined
  config?: string | undefined
  token?: string | undefined
  'token-file'?: string | undefined
  'discovery-token'?: string | undefined
  'tls-bootstrap-token'?: string | undefined
  'discovery-token-ca-cert-hash'?: string[] | undefined
  'discovery-token-unsafe-skip-ca-verification'?: boolean | undefined
  'discovery-file'?: string | undefined
  'discovery-file-ca'?: string | undefined
  'node-name'?: string | undefined
  timeout?: string | undefined
  'ignore-preflight-errors'?: string[] | undefined
  'cri-socket'?: string | undefined
  patches?: string | undefined
  v?: string | undefined
  'control-plane'?: boolean | undefined
  'certificate-key'?: string | undefined
  'apiserver-advertise-address'?: string | undefined
  'apiserver-bind-port'?: string | undefined
}
