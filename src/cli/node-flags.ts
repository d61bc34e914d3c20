import * as Flags from '@oclif/core/flags'

/** The folders of a node, for `join` and the commands for this machine's node. */
export const nodeFlags = {
  dir: Flags.string({
    helpGroup: 'COMMON',
    helpValue: '<folder>',
    summary:
      'the folder of the node [default: $TRUSTADM_NODE_DIR; else /var/lib/trustadm-node for root, ~/.trustadm-node for others]',
  }),
  'cert-dir': Flags.string({
    helpGroup: 'COMMON',
    helpValue: '<folder>',
    summary:
      "the folder of the node's certificates and keys, such as /var/lib/kubelet/pki to share it with a kubelet [default: the one that kubelet.conf refers to; else pki in the folder of the node]",
  }),
}
