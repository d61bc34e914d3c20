import type {ServedResource} from '../discovery/served.ts'
import {
  PATCH_DEFINITION,
  PATCH_NAME,
  definitionsOf,
  listDefinition,
  listName,
  sortedDefinitions,
} from './definitions.ts'
import type {Definitions} from './definitions.ts'
import type {Dialect} from './dialect.ts'
import {typesOf} from './operations.ts'

/** Every definition that a document about some resources refers to. */
export function componentsOf(resources: readonly ServedResource[], dialect: Dialect): Definitions {
  const listed = resources.filter(({resource}) => resource.verbs.includes('list'))
  return sortedDefinitions({
    ...definitionsOf(typesOf(resources), dialect),
    ...Object.fromEntries(listed.map(({type}) => [listName(type), listDefinition(type, dialect)])),
    [PATCH_NAME]: PATCH_DEFINITION,
  })
}
