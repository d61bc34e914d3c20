import * as Flags from '@oclif/core/flags'
import {clusterFlags} from './cluster.ts'
import type {InitTokenFlagValues} from './init-token.ts'

const ofKubeconfig = {helpGroup: 'EXISTING CLUSTER', dependsOn: ['kubeconfig']}

/** The flags of `init` for a cluster that somebody else made. */
export const existingFlags = {
  kubeconfig: Flags.string({
    helpGroup: 'EXISTING CLUSTER',
    helpValue: '<file>',
    summary: 'prepare the existing cluster of this kubeconfig, instead of creating a control plane',
  }),
  context: {...clusterFlags.context, ...ofKubeconfig},
  cluster: {...clusterFlags.cluster, ...ofKubeconfig},
  user: {...clusterFlags.user, ...ofKubeconfig},
  'request-timeout': {...clusterFlags['request-timeout'], ...ofKubeconfig},
}

export interface ExistingFlagValues extends InitTokenFlagValues {
  kubeconfig: string
  context?: string | undefined
  cluster?: string | undefined
  user?: string | undefined
  'request-timeout'?: string | undefined
  'skip-token-print'?: boolean
  quiet: boolean
  verbose: boolean
}
