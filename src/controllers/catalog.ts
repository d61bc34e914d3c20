import type {NodeIssuers} from '../bootstrap/cluster-info.ts'
import type {ApiClient} from '../client/api-client.ts'
import type {Clock} from '../runtime.ts'
import type {Live} from '../trust/live.ts'
import {bootstrapSignerController} from './bootstrap-signer.ts'
import {clusterRoleAggregationController, type Aggregate} from './cluster-role-aggregation.ts'
import type {ControllerSpec, Meter} from './kernel/controller.ts'
import {csrApproverController} from './csr-approver.ts'
import {csrCleanerController} from './csr-cleaner.ts'
import {csrSignerController, type CsrSignerDeps} from './csr-signer.ts'
import {defaultServiceAccountController} from './default-service-account.ts'
import type {ServingPolicy} from './approval/belief.ts'
import type {TokenSecrets} from './approval/live-credential.ts'
import type {RevocationSource} from './approval/revoked-certificates.ts'
import {garbageCollectorController, type OwnershipView} from './garbage-collector.ts'
import {kubeletServingApproverController} from './kubelet-serving-approver.ts'
import {kubeletServingCaController} from './kubelet-serving-ca-publisher.ts'
import {machineApproverController} from './machine-approver.ts'
import {namespaceDeletionController} from './namespace-deletion.ts'
import {nodeLinkController} from './node-link.ts'
import {nodeRecordCleanerController} from './node-record-cleaner.ts'
import {nodeLifecycleController} from './node-lifecycle.ts'
import {revocationCleanerController} from './revocation-cleaner.ts'
import {rootCaController} from './root-ca-publisher.ts'
import {bootstrapTokenKeeper, serviceAccountTokenController} from './service-account-tokens.ts'
import {tokenCleanerController} from './token-cleaner.ts'

/** What controllers need that work with any cluster. */
export interface PortableDeps {
  /** The client that all of them watch with, as kube-controller-manager's own user. */
  reader: ApiClient
  /** The client of one controller, as its own service account. */
  writer: (controller: string) => ApiClient
  clock: Clock
  /** Absent if the cluster publishes its CA bundle itself. */
  rootCa?: Live<string> | undefined
  /** Which CAs sign for nodes now; absent: cluster-info does not say it. */
  issuers?: Live<NodeIssuers | undefined> | undefined
  /** Absent if nothing is to be signed. */
  signing?: CsrSignerDeps | undefined
  /** The current policy; absent: nothing extra is allowed, and nothing is denied. */
  serving?: (() => ServingPolicy) | undefined
  /** Absent if the server has no list of revoked certificates: only trustadm's has one. */
  revocations?: RevocationSource | undefined
  /** Where the bootstrap tokens are. Absent if the approver may not read them: only that of the server may. */
  tokens?: TokenSecrets | undefined
  /** Whether to create the Secret of the node bootstrapper again; absent on trustadm's server, whose service-account-token-controller does. */
  keepsTokens?: true | undefined
  /** The process's log, for what is no error and concerns no object. */
  log?: ((line: string) => void) | undefined
  /** Absent if the process publishes no metrics. */
  meter?: Meter | undefined
}

/** What the controllers need in addition that run only inside the server. */
export interface EmbeddedDeps extends PortableDeps {
  /** The CA bundle that verifies the API server. It is published in all namespaces and in cluster-info. */
  rootCa: Live<string>
  /** The CA bundle for callers of kubelets; absent: none is published. */
  kubeletServingCa?: Live<string | undefined> | undefined
  /** The id of the key that signs service-account tokens; absent: tokens in Secrets are never replaced. */
  tokenKeyId?: Live<string> | undefined
  aggregate: Aggregate
  ownership: OwnershipView
  /** Other servers may write to the store. */
  sharesStore?: boolean | undefined
}

interface ControllerEntry<Deps> {
  /** kube-controller-manager's names for it, current and old. */
  aliases: readonly string[]
  /** Returns undefined if something that it needs is missing. */
  create: (deps: Deps) => ControllerSpec | undefined
}

export type ControllerTable<Deps> = Readonly<Record<string, ControllerEntry<Deps>>>

/** The controllers that work with any cluster. */
export const PORTABLE_CONTROLLERS: ControllerTable<PortableDeps> = {
  'csr-approver': {
    aliases: ['certificatesigningrequest-approving-controller', 'csrapproving'],
    create: ({reader, writer, clock, signing, revocations, tokens}) =>
      csrApproverController(reader, writer('certificate-controller'), {
        clock,
        signers: signing?.signers,
        revocations,
        tokens,
      }),
  },
  'kubelet-serving-approver': {
    // Kubernetes has none.
    aliases: [],
    create: ({reader, writer, serving: policy, clock, revocations}) =>
      kubeletServingApproverController(reader, writer('kubelet-serving-approver'), {
        clock,
        policy,
        revocations,
      }),
  },
  'machine-approver': {
    // Kubernetes has none.
    aliases: [],
    create: ({reader, writer, signing, ...deps}) =>
      machineApproverController(reader, writer('machine-approver'), {
        ...deps,
        signers: signing?.signers,
      }),
  },
  'node-link': {
    // Kubernetes has none.
    aliases: [],
    create: ({reader, writer}) => nodeLinkController(reader, writer('node-link')),
  },
  'csr-signer': {
    aliases: ['certificatesigningrequest-signing-controller', 'csrsigning'],
    create: ({reader, writer, signing, clock, revocations}) =>
      signing &&
      csrSignerController(reader, writer('certificate-controller'), signing, {clock, revocations}),
  },
  'csr-cleaner': {
    aliases: ['certificatesigningrequest-cleaner-controller', 'csrcleaner'],
    create: ({reader, writer, clock}) =>
      csrCleanerController(reader, writer('certificate-controller'), clock),
  },
  'node-record-cleaner': {
    // Kubernetes has none.
    aliases: [],
    create: ({reader, writer, clock}) =>
      nodeRecordCleanerController(reader, writer('node-record-cleaner'), clock),
  },
  'bootstrap-signer': {
    aliases: ['bootstrap-signer-controller', 'bootstrapsigner'],
    create: ({reader, writer, clock, rootCa, issuers}) =>
      bootstrapSignerController(reader, writer('bootstrap-signer'), clock, {rootCa, issuers}),
  },
  'bootstrap-token-keeper': {
    // Kubernetes has none.
    aliases: [],
    create: ({reader, writer, clock, keepsTokens}) =>
      keepsTokens && bootstrapTokenKeeper(reader, writer('bootstrap-token-keeper'), clock),
  },
  'token-cleaner': {
    aliases: ['token-cleaner-controller', 'tokencleaner'],
    create: ({reader, writer, clock}) =>
      tokenCleanerController(reader, writer('token-cleaner'), clock),
  },
}

/** The controllers that a cluster cannot do without; each is a client like any other. */
export const EMBEDDED_CONTROLLERS: ControllerTable<EmbeddedDeps> = {
  'service-account-controller': {
    aliases: ['serviceaccount-controller', 'serviceaccount'],
    create: ({reader, writer}) =>
      defaultServiceAccountController(reader, writer('service-account-controller')),
  },
  'service-account-token-controller': {
    aliases: ['serviceaccount-token-controller', 'serviceaccount-token'],
    create: ({reader, writer, rootCa, tokenKeyId, clock}) =>
      serviceAccountTokenController(reader, writer('service-account-token-controller'), {
        rootCa,
        tokenKeyId,
        clock,
      }),
  },
  'root-ca-cert-publisher': {
    aliases: ['root-ca-certificate-publisher-controller'],
    create: ({reader, writer, rootCa}) =>
      rootCaController(reader, writer('root-ca-cert-publisher'), rootCa),
  },
  'kubelet-serving-ca-publisher': {
    // Kubernetes has none.
    aliases: [],
    create: ({reader, writer, kubeletServingCa}) =>
      kubeletServingCa &&
      kubeletServingCaController(reader, writer('kubelet-serving-ca-publisher'), kubeletServingCa),
  },
  'namespace-controller': {
    aliases: ['namespace'],
    create: ({reader, writer, sharesStore: isShared}) =>
      namespaceDeletionController(reader, writer('namespace-controller'), {isShared}),
  },
  'clusterrole-aggregation-controller': {
    aliases: ['clusterrole-aggregation'],
    create: ({reader, writer, aggregate}) =>
      clusterRoleAggregationController(
        reader,
        writer('clusterrole-aggregation-controller'),
        aggregate,
      ),
  },
  'garbage-collector': {
    aliases: ['garbage-collector-controller', 'garbagecollector'],
    create: ({writer, ownership}) =>
      garbageCollectorController(writer('generic-garbage-collector'), ownership),
  },
  'revocation-cleaner': {
    // Kubernetes has none.
    aliases: [],
    create: ({reader, writer, clock}) =>
      revocationCleanerController(reader, writer('revocation-cleaner'), clock),
  },
  'node-controller': {
    aliases: ['node-lifecycle-controller', 'nodelifecycle'],
    create: ({reader, writer, clock}) =>
      nodeLifecycleController(reader, writer('node-controller'), clock),
  },
  ...PORTABLE_CONTROLLERS,
}
