import type {ApiClient} from '../client/api-client.ts'
import {systemClock, type Clock} from '../runtime.ts'
import {bootstrapSignerController} from './bootstrap-signer.ts'
import {clusterRoleAggregationController, type Aggregate} from './cluster-role-aggregation.ts'
import {
  startController,
  type ControllerSpec,
  type OnControllerError,
  type RunningController,
} from './controller.ts'
import {defaultServiceAccountController} from './default-service-account.ts'
import {namespaceDeletionController} from './namespace-deletion.ts'
import {nodeTaintController} from './node-taints.ts'
import {rootCaController} from './root-ca-publisher.ts'
import {tokenCleanerController} from './token-cleaner.ts'

export type {OnControllerError} from './controller.ts'

export interface ControllerDeps {
  /** The client that all of them watch by, as kube-controller-manager's own user. */
  reader: ApiClient
  /** The client of one controller, as its own service account. */
  writer: (controller: string) => ApiClient
  /** The CA bundle that every namespace is told. */
  rootCa: () => string
  aggregate: Aggregate
  clock?: Clock
  onError: OnControllerError
}

/** The controllers that a cluster cannot do without; each is a client like any other. */
export const controllerSpecs = ({
  reader,
  writer,
  rootCa,
  aggregate,
  clock = systemClock,
}: ControllerDeps): ControllerSpec[] => [
  defaultServiceAccountController(reader, writer('service-account-controller')),
  rootCaController(reader, writer('root-ca-cert-publisher'), rootCa),
  namespaceDeletionController(reader, writer('namespace-controller')),
  clusterRoleAggregationController(reader, writer('clusterrole-aggregation-controller'), aggregate),
  nodeTaintController(reader, writer('node-controller')),
  bootstrapSignerController(reader, writer('bootstrap-signer'), clock),
  tokenCleanerController(reader, writer('token-cleaner'), clock),
]

export interface RunningControllers {
  synced: Promise<void>
  close(): Promise<void>
}

export function startControllers(deps: ControllerDeps): RunningControllers {
  const running: RunningController[] = controllerSpecs(deps).map((spec) =>
    startController(spec, deps.onError),
  )
  return {
    synced: Promise.all(running.map(({synced}) => synced)).then(() => undefined),
    async close() {
      await Promise.all(running.map((controller) => controller.close()))
    },
  }
}
