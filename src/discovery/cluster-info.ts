import type {ClusterInfo} from '../bootstrap/cluster-info.ts'
import {parseBundle} from '../pki/bundle.ts'
import {isSelfIssued, type Certificate} from '../pki/certificate.ts'
import {pinOf, type Pin} from '../pki/pins.ts'

export type DiscoverySource = 'token' | 'kubeconfig' | 'file' | 'https' | 'stdin'

/** Where a cluster is and how to recognize it, from a source that may be trusted. */
export interface TrustedClusterInfo extends ClusterInfo {
  /** Addresses of the cluster other than `server`, as https:// URLs; the one that responded comes first. */
  endpoints: string[]
  /** The text that all of this was read from, byte for byte. */
  kubeconfig: string
  /** The pins of the cluster's roots, for `--discovery-token-ca-cert-hash`. */
  pins: Pin[]
  source: DiscoverySource
  /** Warnings for the user, one sentence each. */
  warnings: string[]
}

export const authoritiesOf = ({ca}: Pick<ClusterInfo, 'ca'>): Certificate[] =>
  ca === undefined ? [] : parseBundle(ca)

/** The pins that trust exactly these CAs: a CA that a root has signed needs none. */
export function pinsOf(authorities: readonly Certificate[]): Pin[] {
  const roots = authorities.filter(isSelfIssued)
  return [...new Set((roots.length > 0 ? roots : authorities).map(pinOf))]
}
