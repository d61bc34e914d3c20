import type {Which} from './generations.ts'
import type {Action} from './journal.ts'

/** What a step does. Each can be repeated: it looks first, and changes only what is not right yet. */
export type StepWork =
  | {kind: 'create'}
  /** Which generation signs clients, which signs servers, and which are trusted. */
  | {kind: 'arrange'; clients: Which; servers: Which; trusts: readonly Which[]}
  /** Renews the certificates in files of the control plane that another generation has signed. */
  | {kind: 'renew'; leaves: 'clients' | 'all'}
  /** Writes the CAs to the kubeconfigs. */
  | {kind: 'kubeconfigs'}
  /** Waits until every server uses what is on the disk. */
  | {kind: 'servers'}
  /** Waits until everything that shows the CAs shows those on the disk. */
  | {kind: 'published'}
  /** Deletes the copies of keys that are in the API. */
  | {kind: 'uploaded'}
  /** Waits until nobody that is known depends on this generation. */
  | {kind: 'dependents'; on: Which}
  /** Waits until no node trusts the old CAs. */
  | {kind: 'distrusted'}
  | {kind: 'remove'; generation: Which}
  /** Waits until the other servers have done the same. */
  | {kind: 'others'}

export interface Step {
  id: string
  /** For people. */
  summary: string
  work: StepWork
  /** Only in these conditions; absent: always. */
  when?: readonly Condition[]
}

/** Whether the old CAs can still be used: those of servers and clients, those of servers alone, or not even those. */
export type Condition = 'usable' | 'clients-expired' | 'expired'

const BOTH = ['old', 'new'] as const

/** The steps of each command in their order. `status`, `--dry-run` and the documentation show this table. */
export const STEPS: Readonly<Record<Action, readonly Step[]>> = {
  start: [
    {id: 'create', summary: 'create the new CAs', work: {kind: 'create'}},
    {
      id: 'trust-both',
      summary: 'trust the old and the new CAs',
      work: {kind: 'arrange', clients: 'old', servers: 'old', trusts: BOTH},
      when: ['usable'],
    },
    {
      id: 'servers-trust-both',
      summary: 'wait until every server trusts both',
      work: {kind: 'servers'},
      when: ['usable'],
    },
    {
      id: 'publish-both',
      summary: 'publish both in cluster-info, in every namespace and to extension servers',
      work: {kind: 'published'},
      when: ['usable'],
    },
    {
      id: 'sign-clients',
      summary: 'sign clients with the new CAs',
      work: {kind: 'arrange', clients: 'new', servers: 'old', trusts: BOTH},
      when: ['usable', 'clients-expired'],
    },
    {
      id: 'sign-everything',
      summary: 'sign with the new CAs: the old one has expired',
      work: {kind: 'arrange', clients: 'new', servers: 'new', trusts: BOTH},
      when: ['expired'],
    },
    {
      id: 'renew-clients',
      summary: "renew the control plane's own client certificates and kubeconfigs",
      work: {kind: 'renew', leaves: 'clients'},
      when: ['usable', 'clients-expired'],
    },
    {
      id: 'renew-everything',
      summary: "renew the control plane's certificates and kubeconfigs",
      work: {kind: 'renew', leaves: 'all'},
      when: ['expired'],
    },
    {
      id: 'servers-sign-clients',
      summary: 'wait until every server signs with the new CAs',
      work: {kind: 'servers'},
    },
    {
      id: 'publish-signers',
      summary: 'publish which CAs sign now, and renew the tokens of service accounts',
      work: {kind: 'published'},
    },
    {
      id: 'nodes',
      summary: 'wait until every node trusts the new CA and has a new certificate',
      work: {kind: 'dependents', on: 'old'},
    },
  ],
  complete: [
    {
      id: 'sign-servers',
      summary: 'sign servers with the new CAs',
      work: {kind: 'arrange', clients: 'new', servers: 'new', trusts: BOTH},
    },
    {
      id: 'renew-servers',
      summary: 'renew the serving certificates',
      work: {kind: 'renew', leaves: 'all'},
    },
    {
      id: 'servers-present-new',
      summary: 'wait until every server presents the new certificate',
      work: {kind: 'servers'},
    },
    {
      id: 'distrust-old',
      summary: 'trust only the new CAs',
      work: {kind: 'arrange', clients: 'new', servers: 'new', trusts: ['new']},
    },
    {
      id: 'kubeconfigs',
      summary: 'write only the new CA to the kubeconfigs',
      work: {kind: 'kubeconfigs'},
    },
    {
      id: 'servers-distrust-old',
      summary: 'wait until no server trusts the old CAs',
      work: {kind: 'servers'},
    },
    {
      id: 'publish-new',
      summary: 'publish only the new CAs',
      work: {kind: 'published'},
    },
    {
      id: 'delete-uploaded',
      summary: 'delete the copies of keys that "init --upload-certs" has uploaded',
      work: {kind: 'uploaded'},
    },
    {
      id: 'remove-old',
      summary: 'destroy the keys of the old CAs and archive their certificates',
      work: {kind: 'remove', generation: 'old'},
    },
    {
      id: 'servers-removed-old',
      summary: 'wait until every server has destroyed the keys of the old CAs',
      work: {kind: 'others'},
    },
    {
      id: 'nodes-distrust-old',
      summary: 'wait until no node trusts the old CAs',
      work: {kind: 'distrusted'},
    },
  ],
  abort: [
    {
      id: 'sign-with-old',
      summary: 'sign with the old CAs again',
      work: {kind: 'arrange', clients: 'old', servers: 'old', trusts: BOTH},
    },
    {
      id: 'renew-with-old',
      summary: "renew the control plane's certificates and kubeconfigs",
      work: {kind: 'renew', leaves: 'all'},
    },
    {
      id: 'servers-sign-with-old',
      summary: 'wait until every server signs with the old CAs',
      work: {kind: 'servers'},
    },
    {
      id: 'publish-old-signers',
      summary: 'publish which CAs sign now, and renew the tokens of service accounts',
      work: {kind: 'published'},
    },
    {
      id: 'nobody-on-new',
      summary: 'wait until nobody depends on the new CAs',
      work: {kind: 'dependents', on: 'new'},
    },
    {
      id: 'distrust-new',
      summary: 'trust only the old CAs',
      work: {kind: 'arrange', clients: 'old', servers: 'old', trusts: ['old']},
    },
    {
      id: 'kubeconfigs-old',
      summary: 'write only the old CA to the kubeconfigs',
      work: {kind: 'kubeconfigs'},
    },
    {
      id: 'servers-distrust-new',
      summary: 'wait until no server trusts the new CAs',
      work: {kind: 'servers'},
    },
    {
      id: 'publish-old',
      summary: 'publish only the old CAs',
      work: {kind: 'published'},
    },
    {
      id: 'delete-uploaded-new',
      summary: 'delete the copies of keys that "init --upload-certs" has uploaded',
      work: {kind: 'uploaded'},
    },
    {
      id: 'remove-new',
      summary: 'destroy the new CAs',
      work: {kind: 'remove', generation: 'new'},
    },
    {
      id: 'servers-removed-new',
      summary: 'wait until every server has destroyed the new CAs',
      work: {kind: 'others'},
    },
  ],
}
