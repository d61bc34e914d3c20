import {compareQuantities} from '../validation/quantity.ts'
import type {PodSpec} from './pod-types.ts'

const COUNTED = ['cpu', 'memory']

/** How a pod is treated when a node runs short, as Kubernetes' ComputePodQOS. */
export function qosClassOf(spec: PodSpec): 'Guaranteed' | 'Burstable' | 'BestEffort' {
  const all = [...(spec.containers ?? []), ...(spec.initContainers ?? [])].map(
    ({resources = {}}) => resources,
  )
  const amounts = all.flatMap(({limits = {}, requests = {}}) =>
    COUNTED.flatMap((name) => [limits[name] ?? 0, requests[name] ?? 0]),
  )
  if (amounts.every((amount) => compareQuantities(amount, 0) === 0)) return 'BestEffort'

  const guaranteed = all.every(({limits = {}, requests = {}}) =>
    COUNTED.every((name) => {
      const [limit = 0, request = 0] = [limits[name], requests[name]]
      return compareQuantities(limit, 0) > 0 && compareQuantities(limit, request) === 0
    }),
  )
  return guaranteed ? 'Guaranteed' : 'Burstable'
}
