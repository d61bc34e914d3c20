import type {FieldError} from '../kernel/field-error.ts'
import {duplicate, forbiddenField, required} from '../kernel/field-error.ts'
import {dnsLabel} from '../validation/names.ts'
import {requiredWith} from '../validation/values.ts'
import type {Volume} from './pod-types.ts'

/** What a source has to say. Sources are looked at in this order, and others after them. */
const NEEDS: Record<string, string[]> = {
  emptyDir: [],
  hostPath: ['path'],
  secret: ['secretName'],
  nfs: ['server', 'path'],
  persistentVolumeClaim: ['claimName'],
  downwardAPI: [],
  configMap: ['name'],
  projected: [],
  csi: ['driver'],
}
const ORDER = Object.keys(NEEDS)

const rank = (source: string) => {
  const place = ORDER.indexOf(source)
  return place < 0 ? ORDER.length : place
}

function validateSource(volume: Volume, path: string): FieldError[] {
  const {name: _, ...sources} = volume
  const named = Object.keys(sources)
    .filter((source) => sources[source] !== undefined)
    .sort((one, other) => rank(one) - rank(other))
  return named.flatMap((source, index) => {
    const field = `${path}.${source}`
    if (index > 0) return [forbiddenField(field, 'may not specify more than 1 volume type')]
    const value = sources[source] as Record<string, unknown>
    return (NEEDS[source] ?? [])
      .filter((need) => !value[need])
      .map((need) => required(`${field}.${need}`))
  })
}

/** The volumes of a pod, and the names of those that a container may mount. As Kubernetes' ValidateVolumes. */
export function validateVolumes(volumes: Volume[]): {errors: FieldError[]; names: Set<string>} {
  const names = new Set<string>()
  const errors = volumes.flatMap((volume, index) => {
    const field = `spec.volumes[${index}]`
    const {name = ''} = volume
    const found = [
      ...validateSource(volume, field),
      ...requiredWith(dnsLabel, `${field}.name`, name),
      ...(names.has(name) ? [duplicate(`${field}.name`, name)] : []),
    ]
    if (found.length === 0) names.add(name)
    return found
  })
  return {errors, names}
}
