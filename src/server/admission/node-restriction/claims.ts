import type {ApiObject} from '../../../api/meta.ts'
import {semanticallyEqual} from '../../validation/equality.ts'
import {quoted, requireThat, type NodeWriteRule} from './node-write.ts'

/** What a node finds out by mounting and growing a volume. */
const OWN_FIELDS = ['capacity', 'conditions', 'allocatedResources', 'allocatedResourceStatuses']
const SERVER_FIELDS = ['resourceVersion', 'managedFields', 'generation']

type Fields = Record<string, unknown>

const without = (fields: unknown, names: readonly string[]): Fields =>
  Object.fromEntries(Object.entries(fields ?? {}).filter(([name]) => !names.includes(name)))

/** The parts of a claim that only others write. */
const othersOf = ({metadata, spec, status}: ApiObject): Record<string, Fields> => ({
  metadata: without(metadata, SERVER_FIELDS),
  spec: without(spec, []),
  status: without(status, OWN_FIELDS),
})

/** Of a claim, a node writes how big its volume has become. */
export const claims: NodeWriteRule = (write) => {
  const {node, operation} = write
  requireThat(write, operation.subresource === 'status', 'may only update PVC status')
  const next = othersOf(operation.object ?? {metadata: {}})
  const old = othersOf(operation.old ?? {metadata: {}})
  const changed = Object.keys(old).flatMap((part) => changedFields(part, next[part], old[part]))
  requireThat(
    write,
    changed.length === 0,
    `node ${quoted(node)} is not allowed to update fields other than status.capacity and status.conditions: ${changed.join(', ')}`,
  )
}

function changedFields(part: string, next: Fields = {}, old: Fields = {}): string[] {
  const names = new Set([...Object.keys(next), ...Object.keys(old)])
  return [...names]
    .filter((name) => !semanticallyEqual(next[name], old[name]))
    .map((name) => `${part}.${name}`)
    .sort()
}
