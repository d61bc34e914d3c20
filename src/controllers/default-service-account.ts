import type {ApiClient} from '../client/api-client.ts'
import {hasCode} from '../errors.ts'
import {follow, type ControllerSpec} from './kernel/controller.ts'
import {isActive} from './namespace-deletion.ts'
import {DONE, type Reconcile} from './kernel/work-queue.ts'

const DEFAULT = 'default'

/** A ServiceAccount `default` in every namespace, created again if it is deleted. */
function ensureDefaultServiceAccount(
  reader: Pick<ApiClient, 'namespaces' | 'serviceAccounts'>,
  writer: Pick<ApiClient, 'serviceAccounts'>,
): Reconcile {
  return async (namespace, signal) => {
    if (!isActive(await reader.namespaces.find(namespace, {signal}))) return DONE
    const ref = {namespace, name: DEFAULT}
    if ((await reader.serviceAccounts.find(ref, {signal})) !== undefined) return DONE
    try {
      await writer.serviceAccounts.create({metadata: ref}, {signal})
    } catch (error) {
      // Created in the meantime, or the namespace is being deleted: the namespace's event adds the key again.
      if (!hasCode(error, 'ALREADY_EXISTS', 'NOT_FOUND', 'FORBIDDEN')) throw error
    }
    return DONE
  }
}

export const defaultServiceAccountController = (
  reader: ApiClient,
  writer: ApiClient,
): ControllerSpec => ({
  name: 'service-account-controller',
  sources: [
    follow(reader.namespaces, (_namespace, key) => [key]),
    follow(reader.serviceAccounts, ({metadata}) => [metadata.namespace ?? ''], {
      fieldSelector: `metadata.name=${DEFAULT}`,
    }),
  ],
  reconcile: ensureDefaultServiceAccount(reader, writer),
})
