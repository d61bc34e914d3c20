import type {ApiObject} from '../api/meta.ts'
import {CONTROLLERS_ACCOUNT} from './rbac-manifest.ts'

interface DeploymentOptions {
  controllers: readonly string[]
  image: string
  /** More words of the command line. */
  args: readonly string[]
  /** Without leader election, a second pod would do the same at the same time. */
  elects: boolean
}

const USER = 65_532

/** Runs controllers in the cluster, as the account of `rbacManifest`. Leases decide which of the two pods works. */
export function deploymentManifest({
  controllers,
  image,
  args,
  elects,
}: DeploymentOptions): ApiObject {
  const {name, namespace} = CONTROLLERS_ACCOUNT
  const labels = {'app.kubernetes.io/name': name}
  const container = {
    name: 'controllers',
    image,
    args: ['controllers', '--controllers', controllers.join(','), ...args],
    resources: {requests: {cpu: '20m', memory: '96Mi'}, limits: {memory: '256Mi'}},
    securityContext: {
      allowPrivilegeEscalation: false,
      readOnlyRootFilesystem: true,
      capabilities: {drop: ['ALL']},
    },
  }
  return {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: {name, namespace, labels},
    spec: {
      replicas: elects ? 2 : 1,
      ...(!elects && {strategy: {type: 'Recreate'}}),
      selector: {matchLabels: labels},
      template: {
        metadata: {labels},
        spec: {
          serviceAccountName: name,
          priorityClassName: 'system-cluster-critical',
          securityContext: {
            runAsNonRoot: true,
            runAsUser: USER,
            runAsGroup: USER,
            seccompProfile: {type: 'RuntimeDefault'},
          },
          containers: [container],
        },
      },
    },
  }
}
