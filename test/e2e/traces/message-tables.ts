/**
 * What clients of Kubernetes v1.36 put into a protobuf body: per message its fields, as `number[*] name:type`. A star is a pointer in
 * Go, so that an absent value is not sent; everything else is sent even if it is empty. Written by hand from the messages of Kubernetes, apart
 * from the tables that the server decodes by.
 */
const TABLES = `
ObjectMeta: 1 name:string, 2 generateName:string, 3 namespace:string, 4 selfLink:string, 5 uid:string, 6 resourceVersion:string, 7 generation:int, 8 creationTimestamp:Time, 9* deletionTimestamp:Time, 10* deletionGracePeriodSeconds:int, 11 labels:map<string>, 12 annotations:map<string>, 13 ownerReferences:[]OwnerReference, 14 finalizers:[]string, 17 managedFields:[]ManagedFieldsEntry
Time: 1* seconds:int, 2* nanos:int
OwnerReference: 1 kind:string, 3 name:string, 4 uid:string, 5 apiVersion:string, 6* controller:bool, 7* blockOwnerDeletion:bool
ManagedFieldsEntry: 1 manager:string, 2 operation:string, 3 apiVersion:string, 4* time:Time, 6 fieldsType:string, 7* fieldsV1:FieldsV1, 8 subresource:string
FieldsV1: 1 Raw:bytes
DeleteOptions: 1* gracePeriodSeconds:int, 2* preconditions:Preconditions, 3* orphanDependents:bool, 4* propagationPolicy:string, 5 dryRun:[]string
Preconditions: 1* uid:string, 2* resourceVersion:string
ExtraValue: 1 items:[]string
Quantity: 1 string:string

CertificateSigningRequest: 1 metadata:ObjectMeta, 2 spec:CertificateSigningRequestSpec, 3 status:CertificateSigningRequestStatus
CertificateSigningRequestSpec: 1 request:bytes, 2 username:string, 3 uid:string, 4 groups:[]string, 5 usages:[]string, 6 extra:map<ExtraValue>, 7 signerName:string, 8* expirationSeconds:int
CertificateSigningRequestStatus: 1 conditions:[]CertificateSigningRequestCondition, 2 certificate:bytes
CertificateSigningRequestCondition: 1 type:string, 2 reason:string, 3 message:string, 4 lastUpdateTime:Time, 5 lastTransitionTime:Time, 6 status:string

Role: 1 metadata:ObjectMeta, 2 rules:[]PolicyRule
RoleBinding: 1 metadata:ObjectMeta, 2 subjects:[]Subject, 3 roleRef:RoleRef
ClusterRole: 1 metadata:ObjectMeta, 2 rules:[]PolicyRule
ClusterRoleBinding: 1 metadata:ObjectMeta, 2 subjects:[]Subject, 3 roleRef:RoleRef
PolicyRule: 1 verbs:[]string, 2 apiGroups:[]string, 3 resources:[]string, 4 resourceNames:[]string, 5 nonResourceURLs:[]string
Subject: 1 kind:string, 2 apiGroup:string, 3 name:string, 4 namespace:string
RoleRef: 1 apiGroup:string, 2 kind:string, 3 name:string

SubjectAccessReview: 1 metadata:ObjectMeta, 2 spec:SubjectAccessReviewSpec, 3 status:SubjectAccessReviewStatus
SubjectAccessReviewSpec: 1* resourceAttributes:ResourceAttributes, 2* nonResourceAttributes:NonResourceAttributes, 3 user:string, 4 groups:[]string, 5 extra:map<ExtraValue>, 6 uid:string
SubjectAccessReviewStatus: 1 allowed:bool, 2 reason:string, 3 evaluationError:string, 4 denied:bool
ResourceAttributes: 1 namespace:string, 2 verb:string, 3 group:string, 4 version:string, 5 resource:string, 6 subresource:string, 7 name:string
NonResourceAttributes: 1 path:string, 2 verb:string

TokenReview: 1 metadata:ObjectMeta, 2 spec:TokenReviewSpec, 3 status:TokenReviewStatus
TokenReviewSpec: 1 token:string, 2 audiences:[]string
TokenReviewStatus: 1 authenticated:bool, 2 user:UserInfo, 3 error:string, 4 audiences:[]string
UserInfo: 1 username:string, 2 uid:string, 3 groups:[]string, 4 extra:map<ExtraValue>
TokenRequest: 1 metadata:ObjectMeta, 2 spec:TokenRequestSpec, 3 status:TokenRequestStatus
TokenRequestSpec: 1 audiences:[]string, 3* boundObjectRef:BoundObjectReference, 4* expirationSeconds:int
TokenRequestStatus: 1 token:string, 2 expirationTimestamp:Time
BoundObjectReference: 1 kind:string, 2 apiVersion:string, 3 name:string, 4 uid:string
SelfSubjectReview: 1 metadata:ObjectMeta, 2 status:SelfSubjectReviewStatus
SelfSubjectReviewStatus: 1 userInfo:UserInfo

Lease: 1 metadata:ObjectMeta, 2 spec:LeaseSpec
LeaseSpec: 1* holderIdentity:string, 2* leaseDurationSeconds:int, 3* acquireTime:Time, 4* renewTime:Time, 5* leaseTransitions:int

CSINode: 1 metadata:ObjectMeta, 2 spec:CSINodeSpec
CSINodeSpec: 1 drivers:[]CSINodeDriver
CSINodeDriver: 1 name:string, 2 nodeID:string, 3 topologyKeys:[]string

Namespace: 1 metadata:ObjectMeta, 2 spec:NamespaceSpec, 3 status:NamespaceStatus
NamespaceSpec: 1 finalizers:[]string
NamespaceStatus: 1 phase:string
Secret: 1 metadata:ObjectMeta, 2 data:map<bytes>, 3 type:string, 4 stringData:map<string>, 5* immutable:bool
ConfigMap: 1 metadata:ObjectMeta, 2 data:map<string>, 3 binaryData:map<bytes>, 4* immutable:bool
ServiceAccount: 1 metadata:ObjectMeta
Event: 1 metadata:ObjectMeta, 2 involvedObject:ObjectReference, 3 reason:string, 4 message:string, 5 source:EventSource, 6 firstTimestamp:Time, 7 lastTimestamp:Time, 8 count:int, 9 type:string, 10 eventTime:Time, 12 action:string, 14 reportingComponent:string, 15 reportingInstance:string
ObjectReference: 1 kind:string, 2 namespace:string, 3 name:string, 4 uid:string, 5 apiVersion:string, 6 resourceVersion:string, 7 fieldPath:string
EventSource: 1 component:string, 2 host:string

Node: 1 metadata:ObjectMeta, 2 spec:NodeSpec, 3 status:NodeStatus
NodeSpec: 1 podCIDR:string, 2 externalID:string, 3 providerID:string, 4 unschedulable:bool, 5 taints:[]Taint, 7 podCIDRs:[]string
Taint: 1 key:string, 2 value:string, 3 effect:string
NodeStatus: 1 capacity:map<Quantity>, 2 allocatable:map<Quantity>, 3 phase:string, 4 conditions:[]NodeCondition, 5 addresses:[]NodeAddress, 6 daemonEndpoints:NodeDaemonEndpoints, 7 nodeInfo:NodeSystemInfo, 8 images:[]ContainerImage
NodeCondition: 1 type:string, 2 status:string, 3 lastHeartbeatTime:Time, 4 lastTransitionTime:Time, 5 reason:string, 6 message:string
NodeAddress: 1 type:string, 2 address:string
NodeDaemonEndpoints: 1 kubeletEndpoint:DaemonEndpoint
DaemonEndpoint: 1 Port:int
NodeSystemInfo: 1 machineID:string, 2 systemUUID:string, 3 bootID:string, 4 kernelVersion:string, 5 osImage:string, 6 containerRuntimeVersion:string, 7 kubeletVersion:string, 8 kubeProxyVersion:string, 9 operatingSystem:string, 10 architecture:string
ContainerImage: 1 names:[]string, 2 sizeBytes:int
`

export interface Field {
  number: number
  name: string
  type: string
  shape: 'always' | 'if set' | 'repeated' | 'map'
}

const FIELD = /^(\d+)(\*?) (\w+):(\[\]|map<)?(\w+)>?$/

function fieldOf(text: string): Field {
  const [, number, pointer, name, collection, type] = FIELD.exec(text.trim()) ?? []
  if (!number || !name || !type) throw new Error(`no field: ${text}`)
  const single = pointer || type === 'bytes' ? 'if set' : 'always'
  const shape = collection === '[]' ? 'repeated' : collection ? 'map' : single
  return {number: Number(number), name, type, shape}
}

const MESSAGES = new Map(
  TABLES.split('\n')
    .filter(Boolean)
    .map((line) => {
      const [name = '', fields = ''] = line.split(/: (.*)/)
      return [name, fields.split(', ').map(fieldOf)]
    }),
)

export function fieldsOf(message: string): Field[] {
  const fields = MESSAGES.get(message)
  if (!fields) throw new Error(`no message: ${message}`)
  return fields
}
