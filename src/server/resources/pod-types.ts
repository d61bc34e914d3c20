import type {ApiObject} from '../../api/meta.ts'
import type {ResourceList} from '../validation/quantity.ts'

export interface HttpGet {
  path?: string
  port?: number | string
  scheme?: string
}

export interface Probe {
  httpGet?: HttpGet
  grpc?: {port?: number; service?: string}
  timeoutSeconds?: number
  periodSeconds?: number
  successThreshold?: number
  failureThreshold?: number
}

export interface ContainerPort {
  name?: string
  containerPort?: number
  hostPort?: number
  protocol?: string
}

export interface EnvironmentVariable {
  name?: string
  value?: string
  valueFrom?: {
    fieldRef?: {apiVersion?: string; fieldPath?: string}
    resourceFieldRef?: {divisor?: string | number}
  }
}

export interface Container {
  name?: string
  image?: string
  imagePullPolicy?: string
  terminationMessagePath?: string
  terminationMessagePolicy?: string
  restartPolicy?: string
  resources?: {limits?: ResourceList; requests?: ResourceList}
  ports?: ContainerPort[]
  env?: EnvironmentVariable[]
  volumeMounts?: {name?: string; mountPath?: string}[]
  livenessProbe?: Probe
  readinessProbe?: Probe
  startupProbe?: Probe
  lifecycle?: {postStart?: {httpGet?: HttpGet}; preStop?: {httpGet?: HttpGet}}
}

export interface DownwardItem {
  fieldRef?: {apiVersion?: string}
  resourceFieldRef?: {divisor?: string | number}
}

export interface Volume {
  name?: string
  emptyDir?: {sizeLimit?: string | number}
  hostPath?: {type?: string}
  secret?: {defaultMode?: number}
  configMap?: {defaultMode?: number}
  downwardAPI?: {defaultMode?: number; items?: DownwardItem[]}
  projected?: {
    defaultMode?: number
    sources?: {
      serviceAccountToken?: {expirationSeconds?: number}
      downwardAPI?: {items?: DownwardItem[]}
    }[]
  }
  ephemeral?: {volumeClaimTemplate?: {spec?: {volumeMode?: string}}}
  image?: {reference?: string; pullPolicy?: string}
  iscsi?: {iscsiInterface?: string}
  [source: string]: unknown
}

export interface Toleration {
  key?: string
  operator?: string
  value?: string
  effect?: string
  tolerationSeconds?: number
}

export interface PodSpec {
  containers?: Container[]
  initContainers?: Container[]
  ephemeralContainers?: Container[]
  volumes?: Volume[]
  restartPolicy?: string
  terminationGracePeriodSeconds?: number
  activeDeadlineSeconds?: number
  dnsPolicy?: string
  nodeSelector?: Record<string, string>
  serviceAccountName?: string
  serviceAccount?: string
  nodeName?: string
  hostNetwork?: boolean
  securityContext?: object
  imagePullSecrets?: {name?: string}[]
  hostname?: string
  subdomain?: string
  schedulerName?: string
  tolerations?: Toleration[]
  priority?: number
  preemptionPolicy?: string
  enableServiceLinks?: boolean
  readinessGates?: {conditionType?: string}[]
  schedulingGates?: {name?: string}[]
  overhead?: ResourceList
  runtimeClassName?: string
}

export interface PodCondition {
  type: string
  status: string
  reason?: string
  message?: string
  lastProbeTime?: string | null
  lastTransitionTime?: string | null
}

export interface ContainerState {
  waiting?: {reason?: string}
  running?: {startedAt?: string | null}
  terminated?: {
    reason?: string
    exitCode?: number
    signal?: number
    finishedAt?: string | null
  }
}

export interface ContainerStatus {
  name?: string
  ready?: boolean
  started?: boolean
  restartCount?: number
  state?: ContainerState
  lastState?: ContainerState
}

interface PodStatus {
  phase?: string
  reason?: string
  conditions?: PodCondition[]
  podIP?: string
  podIPs?: {ip?: string}[]
  nominatedNodeName?: string
  qosClass?: string
  containerStatuses?: ContainerStatus[]
  initContainerStatuses?: ContainerStatus[]
}

export interface Pod extends ApiObject {
  spec?: PodSpec
  status?: PodStatus
}
