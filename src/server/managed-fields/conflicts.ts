import type {StatusCause} from '../../api/meta.ts'
import {compareTexts} from '../kernel/json-value.ts'
import {StatusError} from '../kernel/status.ts'
import {type FieldSet, pathsOf} from './field-set.ts'
import {managerId, type Manager} from './managers.ts'
import {elementText, type PathElement} from './path-element.ts'

/** A field that would change and that another manager owns. */
export interface Conflict {
  owner: Manager
  path: readonly PathElement[]
}

/** By manager, then in the order of the fields. */
export function conflictsOf(disputed: readonly {owner: Manager; fields: FieldSet}[]): Conflict[] {
  return disputed
    .toSorted((left, right) => compareTexts(managerId(left.owner), managerId(right.owner)))
    .flatMap(({owner, fields}) => pathsOf(fields).map((path) => ({owner, path})))
}

/** The most that fit into a Status. */
const MOST_SHOWN = 100
const MOST_PATH = 1024

/** The sender chooses the keys, and a long one may be part of every path. */
function pathText(path: readonly PathElement[]): string {
  let text = ''
  for (const element of path) {
    text += elementText(element)
    if (text.length > MOST_PATH) return `${text.slice(0, MOST_PATH)}...`
  }
  return text
}

function ownerText({manager, operation, apiVersion, subresource}: Manager): string {
  const name = JSON.stringify(manager)
  const where =
    subresource === '' ? name : `${name} with subresource ${JSON.stringify(subresource)}`
  return operation === 'Update' ? `${where} using ${apiVersion}` : where
}

function conflictText(conflicts: readonly Conflict[]): string {
  const [first] = conflicts
  if (first !== undefined && conflicts.length === 1) {
    return `Apply failed with 1 conflict: conflict with ${ownerText(first.owner)}: ${pathText(first.path)}`
  }
  const lines = conflicts.slice(0, MOST_SHOWN).flatMap(({owner, path}, index) => {
    const line = `- ${pathText(path)}`
    return conflicts[index - 1]?.owner === owner
      ? [line]
      : [`conflicts with ${ownerText(owner)}:`, line]
  })
  if (conflicts.length > MOST_SHOWN) lines.push(`and ${conflicts.length - MOST_SHOWN} more`)
  return `Apply failed with ${conflicts.length} conflicts: ${lines.join('\n')}`
}

/** 409, with one cause for each field, as kubectl prints them. */
export function applyConflict(conflicts: readonly Conflict[]): StatusError {
  const causes: StatusCause[] = conflicts.slice(0, MOST_SHOWN).map(({owner, path}) => ({
    reason: 'FieldManagerConflict',
    message: `conflict with ${ownerText(owner)}`,
    field: pathText(path),
  }))
  return new StatusError(409, 'Conflict', conflictText(conflicts), {causes})
}
