import type {Secret} from '../api/core.ts'
import {expirationOf} from '../bootstrap/read-token-secret.ts'
import {TOKEN_SECRET_NAMESPACE, TOKEN_SECRET_TYPE} from '../bootstrap/token-secret.ts'
import type {ApiClient} from '../client/api-client.ts'
import {hasCode} from '../errors.ts'
import type {Clock} from '../runtime.ts'
import {follow, type ControllerSpec, type Copy} from './kernel/controller.ts'
import {DONE, type Reconcile} from './kernel/work-queue.ts'

/** Kubernetes' token cleaner: deletes a token's Secret when the token expires. */
export function cleanToken(
  tokens: Pick<Copy<Secret>, 'find'>,
  writer: Pick<ApiClient, 'secrets'>,
  clock: Clock,
): Reconcile {
  return async (key, signal) => {
    const secret = await tokens.find(key)
    const expires = secret && expirationOf(secret)
    if (!expires || secret.metadata.deletionTimestamp !== undefined) return DONE

    const left = expires.getTime() - clock.now().getTime()
    if (left > 0) return {requeueAfter: left}

    try {
      const {uid, resourceVersion} = secret.metadata
      await writer.secrets.delete(key, {uid, resourceVersion, signal})
    } catch (error) {
      // Deleted, created again or extended in the meantime: that event adds it again.
      if (!hasCode(error, 'NOT_FOUND', 'CONFLICT')) throw error
    }
    return DONE
  }
}

export function tokenCleanerController(
  reader: ApiClient,
  writer: ApiClient,
  clock: Clock,
): ControllerSpec {
  const tokens = follow(reader.secrets, (_secret, key) => [key], {
    namespace: TOKEN_SECRET_NAMESPACE,
    fieldSelector: `type=${TOKEN_SECRET_TYPE}`,
  })
  return {
    name: 'token-cleaner',
    sources: [tokens],
    reconcile: cleanToken(tokens, writer, clock),
    // Tokens that were created together expire together, and concurrent writes share a commit.
    workers: 8,
  }
}
