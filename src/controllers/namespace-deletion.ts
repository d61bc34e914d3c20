import type {Namespace} from '../api/core.ts'
import type {ApiClient} from '../client/api-client.ts'
import type {ResourceType} from '../client/resource-client.ts'
import {hasCode} from '../errors.ts'
import {follow, type ControllerSpec} from './kernel/controller.ts'
import {DONE, type Reconcile} from './kernel/work-queue.ts'

const FINALIZER = 'kubernetes'
/** How long to wait before checking again for objects that their finalizers hold. */
const LOOK_AGAIN = 1000
/** Kubernetes' namespaceDeletionGracePeriod, in milliseconds: a server that has not heard of the deletion may still create something. */
const GRACE = 5000

interface GroupList {
  groups: {preferredVersion: {groupVersion: string}}[]
}

interface ResourceList {
  groupVersion: string
  resources: {name: string; namespaced: boolean; verbs: string[]}[]
}

/** Everything that a namespace can contain, from the server's discovery. */
async function namespacedResources(
  client: Pick<ApiClient, 'raw'>,
  signal: AbortSignal,
): Promise<ResourceType[]> {
  const {groups} = JSON.parse(await client.raw('/apis', {signal})) as GroupList
  const paths = [
    '/api/v1',
    ...groups.map((group) => `/apis/${group.preferredVersion.groupVersion}`),
  ]
  const lists = await Promise.all(
    paths.map(async (path) => JSON.parse(await client.raw(path, {signal})) as ResourceList),
  )
  return lists.flatMap(({groupVersion, resources}) =>
    resources
      .filter(
        ({name, namespaced, verbs}) =>
          namespaced &&
          !name.includes('/') &&
          ['list', 'deletecollection'].every((verb) => verbs.includes(verb)),
      )
      .map(({name}) => {
        const slash = groupVersion.indexOf('/')
        return {
          group: slash === -1 ? '' : groupVersion.slice(0, slash),
          version: groupVersion.slice(slash + 1),
          plural: name,
          namespaced: true,
        }
      }),
  )
}

export interface NamespaceDeletionOptions {
  /** Other servers may write to the store. */
  isShared?: boolean | undefined
  /** Milliseconds that only grow. */
  now?: () => number
}

/** Empties a namespace that is being deleted, then removes its finalizer. */
function emptyNamespace(
  client: Pick<ApiClient, 'namespaces' | 'raw' | 'resource'>,
  {isShared = false, now = () => performance.now()}: NamespaceDeletionOptions,
): Reconcile {
  // By our own watch: the time in the namespace is by the clock of the server that deletes it.
  const seenAt = new Map<string, number>()
  return async (name, signal) => {
    const namespace = await client.namespaces.find(name, {signal})
    if (namespace?.metadata.deletionTimestamp === undefined) {
      seenAt.delete(name)
      return DONE
    }
    const seen = seenAt.get(name) ?? now()
    seenAt.set(name, seen)
    const left = isShared ? seen + GRACE - now() : 0
    if (left > 0) return {requeueAfter: left}
    const finalizers = namespace.spec?.finalizers ?? []
    if (!finalizers.includes(FINALIZER)) return DONE

    let remaining = 0
    for (const type of await namespacedResources(client, signal)) {
      const objects = client.resource(type)
      const {items} = await objects.list({namespace: name, signal})
      if (items.length === 0) continue
      await objects.deleteCollection(
        {namespace: name, signal},
        {propagationPolicy: 'Background', signal},
      )
      remaining += (await objects.list({namespace: name, signal})).items.length
    }
    if (remaining > 0) return {requeueAfter: LOOK_AGAIN}

    try {
      await client.namespaces.updateSubresource(
        'finalize',
        {...namespace, spec: {finalizers: finalizers.filter((one) => one !== FINALIZER)}},
        {signal},
      )
    } catch (error) {
      // Changed in the meantime: that event adds it again. Already deleted: nothing to do.
      if (!hasCode(error, 'CONFLICT', 'NOT_FOUND')) throw error
    }
    return DONE
  }
}

export const namespaceDeletionController = (
  reader: ApiClient,
  writer: ApiClient,
  options: NamespaceDeletionOptions = {},
): ControllerSpec => ({
  name: 'namespace-controller',
  sources: [
    follow(reader.namespaces, ({metadata}, key) =>
      metadata.deletionTimestamp === undefined ? [] : [key],
    ),
  ],
  reconcile: emptyNamespace(writer, options),
  workers: 4,
})

/** Objects may be created in it. */
export const isActive = (namespace: Namespace | undefined): namespace is Namespace =>
  namespace !== undefined &&
  namespace.metadata.deletionTimestamp === undefined &&
  namespace.status?.phase !== 'Terminating'
