import type {ApiObject, ResourceList} from './meta.ts'

/** How containers are run (`node.k8s.io/v1`). */
export interface RuntimeClass extends ApiObject {
  handler?: string
  overhead?: {podFixed?: ResourceList}
  scheduling?: {nodeSelector?: Record<string, string>}
}
