import type {ApiObject} from '../../api/meta.ts'
import {type FieldSchema, findType, type TypeSchema} from '../../api/schema/index.ts'
import {type FieldError, notSupported, required} from '../kernel/field-error.ts'
import type {JsonObject} from '../kernel/json-value.ts'

/** The values that a Go type has, in the order in which Kubernetes lists them. */
const VALUES: Readonly<Record<string, string[]>> = {
  'v1.DNSPolicy': ['ClusterFirstWithHostNet', 'ClusterFirst', 'Default', 'None'],
  'v1.FSGroupPolicy': ['File', 'None', 'ReadWriteOnceWithFSType'],
  'v1.IPFamily': ['IPv4', 'IPv6'],
  'v1.IPFamilyPolicy': ['PreferDualStack', 'RequireDualStack', 'SingleStack'],
  'v1.PersistentVolumeAccessMode': [
    'ReadOnlyMany',
    'ReadWriteMany',
    'ReadWriteOnce',
    'ReadWriteOncePod',
  ],
  'v1.PersistentVolumeMode': ['Block', 'Filesystem'],
  'v1.PersistentVolumeReclaimPolicy': ['Delete', 'Recycle', 'Retain'],
  'v1.Protocol': ['SCTP', 'TCP', 'UDP'],
  'v1.PullPolicy': ['Always', 'IfNotPresent', 'Never'],
  'v1.RestartPolicy': ['Always', 'OnFailure', 'Never'],
  'v1.ServiceAffinity': ['ClientIP', 'None'],
  'v1.ServiceExternalTrafficPolicy': ['Cluster', 'Local'],
  'v1.ServiceInternalTrafficPolicy': ['Cluster', 'Local'],
  'v1.ServiceType': ['ClusterIP', 'ExternalName', 'LoadBalancer', 'NodePort'],
  'v1.TaintEffect': ['NoSchedule', 'PreferNoSchedule', 'NoExecute'],
  'v1.TerminationMessagePolicy': ['File', 'FallbackToLogsOnError'],
  'v1.TolerationOperator': ['Equal', 'Exists'],
  'v1.VolumeLifecycleMode': ['Persistent', 'Ephemeral'],
}

/** OpenAPI calls these required, and yet Kubernetes takes them empty. */
const MAY_BE_EMPTY = new Set([
  'core/v1.HTTPHeader value',
  'core/v1.Sysctl value',
  'storage/v1.CSINodeSpec drivers',
  'storage/v1.TokenRequest audience',
])

const isMissing = (value: unknown) =>
  value === undefined || value === null || value === '' || (Array.isArray(value) && !value.length)

const mustHaveValue = (owner: TypeSchema, {name, pointer, required: listed, scalar}: FieldSchema) =>
  listed && !(pointer && scalar) && !MAY_BE_EMPTY.has(`${owner.name} ${name}`)

/**
 * What the schema table alone can say about an object: which fields need a value, and which values there are. For kinds that
 * nothing here runs, that and what protects something is all that is checked.
 */
export function validateBySchema(typeName: string, object: ApiObject): FieldError[] {
  const errors: FieldError[] = []
  checkStruct(findType(typeName), {...object, status: undefined}, '', errors)
  return errors
}

function checkStruct(type: TypeSchema, value: JsonObject, path: string, errors: FieldError[]) {
  for (const field of type.byName.values()) {
    const own = value[field.name]
    if (!isMissing(own)) checkField(field, own, `${path}${field.name}`, errors)
    else if (mustHaveValue(type, field)) errors.push(required(`${path}${field.name}`))
  }
}

function checkField(
  {type, scalar, goType = '', cardinality}: FieldSchema,
  value: unknown,
  path: string,
  errors: FieldError[],
): void {
  const items = Array.isArray(value) ? value : [value]
  if (scalar) {
    const values = VALUES[goType]
    for (const item of items)
      if (values?.includes(item as string) === false) errors.push(notSupported(path, item, values))
    return
  }
  // Metadata and label selectors have rules of their own.
  if (type.startsWith('meta/')) return
  const schema = findType(type)
  for (const [index, item] of items.entries()) {
    const step = cardinality === 'list' ? `[${index}].` : '.'
    checkStruct(schema, item as JsonObject, `${path}${step}`, errors)
  }
}
