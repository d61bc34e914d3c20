import type {ApiObject} from './meta.ts'

/** A pod, as far as it matters here: which node it is bound to and what of the API it refers to. */
export interface Pod extends ApiObject {
  spec?: PodSpec
  status?: PodStatus
}

interface PodSpec {
  nodeName?: string
  serviceAccountName?: string
  restartPolicy?: string
  schedulerName?: string
  hostNetwork?: boolean
  containers: Container[]
  volumes?: PodVolume[]
}

interface Container {
  name: string
  image?: string
  command?: string[]
  args?: string[]
}

interface PodVolume {
  name: string
  secret?: {secretName?: string}
  configMap?: {name?: string}
  persistentVolumeClaim?: {claimName: string}
  [source: string]: unknown
}

interface PodStatus {
  phase?: string
  podIP?: string
  hostIP?: string
  conditions?: {type: string; status: string; reason?: string; message?: string}[]
}

export interface Service extends ApiObject {
  spec?: ServiceSpec
}

interface ServiceSpec {
  type?: string
  clusterIP?: string
  clusterIPs?: string[]
  selector?: Record<string, string>
  ports?: ServicePort[]
}

interface ServicePort {
  name?: string
  port: number
  protocol?: string
  targetPort?: number | string
}
