import type {SubjectNames} from '../pki/subject-names.ts'
import {NODE_PREFIX, NODES} from './node-names.ts'

/** The signers that every cluster has. */
export const API_SERVER_CLIENT = 'kubernetes.io/kube-apiserver-client'
export const KUBELET_CLIENT = 'kubernetes.io/kube-apiserver-client-kubelet'
export const KUBELET_SERVING = 'kubernetes.io/kubelet-serving'
/** Of v1beta1 only: nobody has to trust what it signs. */
export const LEGACY_UNKNOWN = 'kubernetes.io/legacy-unknown'

export const WELL_KNOWN_SIGNERS = [
  API_SERVER_CLIENT,
  KUBELET_CLIENT,
  KUBELET_SERVING,
  LEGACY_UNKNOWN,
] as const

export type WellKnownSigner = (typeof WELL_KNOWN_SIGNERS)[number]

/** Those whose certificates log in to the API server, by what they are for. */
const CLIENT_SIGNERS = [API_SERVER_CLIENT, KUBELET_CLIENT] as const

const isOneOf =
  <T extends string>(signers: readonly T[]) =>
  (name: string | undefined): name is T =>
    (signers as readonly (string | undefined)[]).includes(name)

export const isWellKnownSigner = isOneOf(WELL_KNOWN_SIGNERS)
export const isClientSigner = isOneOf(CLIENT_SIGNERS)
/** Whether it signs what a node asks for in its own name. */
export const isKubeletSigner = isOneOf([KUBELET_CLIENT, KUBELET_SERVING])

export type NameKind = keyof SubjectNames
export const NAME_KINDS: readonly NameKind[] = ['dns', 'ips', 'emails', 'uris']

/** All of `required` must be there, those of `optional` may be, no others. */
export interface Choice {
  required: readonly string[]
  optional: readonly string[]
}

/** What a signer signs. A rule that is absent permits everything. */
export interface SignerRules {
  /** A pattern in which one `*` stands for one or more characters. */
  commonName?: string
  organizations?: Choice
  /** The kinds of alternative names that may be there. */
  names: readonly NameKind[]
  /** Whether one of them must be. */
  needsName?: boolean
  usages?: Choice
}

const NODE_SUBJECT = {
  commonName: `${NODE_PREFIX}*`,
  organizations: {required: [NODES], optional: []},
} as const

/** What Kubernetes' signers sign. Keys that cannot encipher leave that usage out. */
export const SIGNER_RULES: Readonly<Record<WellKnownSigner, SignerRules>> = {
  [API_SERVER_CLIENT]: {
    names: NAME_KINDS,
    usages: {required: ['client auth'], optional: ['digital signature', 'key encipherment']},
  },
  [KUBELET_CLIENT]: {
    ...NODE_SUBJECT,
    names: [],
    usages: {required: ['digital signature', 'client auth'], optional: ['key encipherment']},
  },
  [KUBELET_SERVING]: {
    ...NODE_SUBJECT,
    names: ['dns', 'ips'],
    needsName: true,
    usages: {required: ['digital signature', 'server auth'], optional: ['key encipherment']},
  },
  [LEGACY_UNKNOWN]: {names: NAME_KINDS},
}

const SECOND = 1000
/** Twice the backdating: what is shorter would be worth little on a machine whose clock is off. */
export const SHORTEST_SECONDS = 600

/** What a request gets, in milliseconds: as long as it asks for, at least ten minutes, at most as long as the signer signs for. */
export function lifetimeFor(expirationSeconds: number | undefined, longest: number): number {
  if (expirationSeconds === undefined) return longest
  return Math.min(Math.max(expirationSeconds, SHORTEST_SECONDS) * SECOND, longest)
}
