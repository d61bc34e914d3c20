import type {ApiObject, ResourceList} from './meta.ts'

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

interface ContainerPort {
  containerPort?: number
  hostPort?: number
  protocol?: string
}

interface EnvironmentVariable {
  name?: string
  value?: string
  valueFrom?: {
    fieldRef?: {apiVersion?: string; fieldPath?: string}
    secretKeyRef?: {name?: string}
    configMapKeyRef?: {name?: string}
  }
}

export interface Container {
  name?: string
  image?: string
  command?: string[]
  args?: string[]
  imagePullPolicy?: string
  terminationMessagePath?: string
  terminationMessagePolicy?: string
  restartPolicy?: string
  resources?: {limits?: ResourceList; requests?: ResourceList}
  ports?: ContainerPort[]
  env?: EnvironmentVariable[]
  envFrom?: {secretRef?: {name?: string}; configMapRef?: {name?: string}}[]
  volumeMounts?: {name?: string; mountPath?: string; readOnly?: boolean}[]
  livenessProbe?: Probe
  readinessProbe?: Probe
  startupProbe?: Probe
  lifecycle?: {postStart?: {httpGet?: HttpGet}; preStop?: {httpGet?: HttpGet}}
}

export interface DownwardItem {
  path?: string
  fieldRef?: {apiVersion?: string; fieldPath?: string}
}

export interface Volume {
  name?: string
  emptyDir?: {sizeLimit?: string | number}
  hostPath?: {type?: string}
  secret?: {defaultMode?: number; secretName?: string}
  configMap?: {defaultMode?: number; name?: string}
  persistentVolumeClaim?: {claimName?: string}
  downwardAPI?: {defaultMode?: number; items?: DownwardItem[]}
  projected?: {
    defaultMode?: number
    sources?: {
      serviceAccountToken?: {audience?: string; expirationSeconds?: number; path?: string}
      downwardAPI?: {items?: DownwardItem[]}
      secret?: {name?: string}
      configMap?: {name?: string; items?: {key?: string; path?: string}[]}
      clusterTrustBundle?: object
      podCertificate?: object
    }[]
  }
  ephemeral?: {volumeClaimTemplate?: {spec?: {volumeMode?: string}}}
  image?: {reference?: string; pullPolicy?: string}
  azureFile?: {secretName?: string}
  csi?: {driver?: string; nodePublishSecretRef?: {name?: string}}
  cephfs?: SecretUser
  cinder?: SecretUser
  flexVolume?: SecretUser
  iscsi?: SecretUser & {iscsiInterface?: string}
  rbd?: SecretUser
  scaleIO?: SecretUser
  storageos?: SecretUser
  [source: string]: unknown
}

/** A source of a volume that is mounted with a Secret. */
interface SecretUser {
  secretRef?: {name?: string}
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
  serviceAccountName?: string
  serviceAccount?: string
  automountServiceAccountToken?: boolean
  nodeName?: string
  hostNetwork?: boolean
  securityContext?: object
  imagePullSecrets?: {name?: string}[]
  hostname?: string
  subdomain?: string
  schedulerName?: string
  tolerations?: Toleration[]
  enableServiceLinks?: boolean
  readinessGates?: {conditionType?: string}[]
  schedulingGates?: {name?: string}[]
  runtimeClassName?: string
  resourceClaims?: {resourceClaimName?: string; resourceClaimTemplateName?: string}[]
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
  resourceClaimStatuses?: {name?: string; resourceClaimName?: string}[]
  extendedResourceClaimStatus?: object
}

export interface Pod extends ApiObject {
  spec?: PodSpec
  status?: PodStatus
}

/** How pods are run (`node.k8s.io/v1`). */
export interface RuntimeClass extends ApiObject {
  handler?: string
}
