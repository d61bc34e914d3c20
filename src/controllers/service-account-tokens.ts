import type {TokenRequest} from '../api/authentication.ts'
import type {Secret, ServiceAccount} from '../api/core.ts'
import type {ApiClient} from '../client/api-client.ts'
import type {CallOptions} from '../client/resource-client.ts'
import {
  ACCOUNT_NAME,
  ACCOUNT_TOKEN_TYPE,
  ACCOUNT_UID,
  BOOTSTRAPPER,
  BOOTSTRAPPER_NAMESPACE,
  BOOTSTRAPPER_NAMESPACES,
  BOOTSTRAPPER_SECRET,
  bootstrapperSecret,
  KEEPS_SECRET,
} from '../csr/bootstrapper.ts'
import {hasCode} from '../errors.ts'
import type {Clock} from '../runtime.ts'
import type {Live} from '../trust/live.ts'
import {type ControllerSpec, follow, followLive} from './kernel/controller.ts'
import {EventReporter} from './kernel/events.ts'
import {DONE, type Reconcile} from './kernel/work-queue.ts'

/** Which Secrets with tokens an account has, by the key of the account. */
export class SecretsOfAccounts {
  readonly #secrets = new Map<string, Set<string>>()
  readonly #accountOf = new Map<string, string>()

  /** The key of a Secret, once it is known whose it is. */
  see({metadata}: Pick<Secret, 'metadata'>, key: string): [string] {
    const account = `${metadata.namespace ?? ''}/${metadata.annotations?.[ACCOUNT_NAME] ?? ''}`
    if (this.#accountOf.get(key) !== account) this.forget(key)
    this.#accountOf.set(key, account)
    this.#secrets.set(account, (this.#secrets.get(account) ?? new Set()).add(key))
    return [key]
  }

  of(account: string): Iterable<string> {
    return this.#secrets.get(account) ?? []
  }

  all(): string[] {
    return [...this.#accountOf.keys()]
  }

  forget(key: string): void {
    const account = this.#accountOf.get(key)
    if (account === undefined) return
    this.#accountOf.delete(key)
    const keys = this.#secrets.get(account)
    keys?.delete(key)
    if (keys?.size === 0) this.#secrets.delete(account)
  }
}

/** The longest that the API allows, 136 years: the token ends with its Secret. */
const EXPIRATION_SECONDS = 2 ** 32
const COMPONENT = 'service-account-token-controller'

type Reader = Pick<ApiClient, 'secrets' | 'serviceAccounts'>
type Writer = Reader & Pick<ApiClient, 'events'>

const encode = (text: string): string => Buffer.from(text).toString('base64')

/** The Secrets that an account must always have; none for most accounts. */
function keptSecrets({metadata}: ServiceAccount): string[] {
  const {name, namespace = '', annotations} = metadata
  const isBootstrapper = name === BOOTSTRAPPER && BOOTSTRAPPER_NAMESPACES.includes(namespace)
  return isBootstrapper && annotations?.[KEEPS_SECRET] === BOOTSTRAPPER_SECRET
    ? [`${namespace}/${BOOTSTRAPPER_SECRET}`]
    : []
}

interface TokenControllerOptions {
  rootCa: Live<string>
  /** The id of the key that signs tokens; absent: tokens are never replaced. */
  tokenKeyId?: Live<string> | undefined
  clock: Clock
}

class TokenSecrets {
  readonly #writer: Writer
  readonly #rootCa: Pick<Live<string>, 'current'>
  readonly #keyId: Pick<Live<string>, 'current'> | undefined

  constructor(writer: Writer, {rootCa, tokenKeyId}: TokenControllerOptions) {
    this.#writer = writer
    this.#rootCa = rootCa
    this.#keyId = tokenKeyId
  }

  /** Fills a Secret, or deletes it if its account is gone. */
  async settle(secret: Secret, options: CallOptions): Promise<void> {
    const {name = '', namespace = '', uid, annotations = {}} = secret.metadata
    const accountRef = {namespace, name: annotations[ACCOUNT_NAME] ?? ''}
    const account = await this.#writer.serviceAccounts.find(accountRef, options)
    const known = annotations[ACCOUNT_UID]
    if (account === undefined || (known !== undefined && known !== account.metadata.uid)) {
      await this.#writer.secrets.delete({namespace, name}, {...options, uid})
      return
    }
    if (secret.immutable) return
    const filled = await this.#filled(secret, account, options)
    if (filled !== undefined) await this.#writer.secrets.update(filled, options)
  }

  /** What the Secret has to become; undefined if nothing is missing. */
  async #filled(
    secret: Secret,
    {metadata: account}: ServiceAccount,
    options: CallOptions,
  ): Promise<Secret | undefined> {
    const {metadata, data = {}} = secret
    const kept = this.#isCurrent(data.token) ? (data.token ?? '') : ''
    const {namespace = '', annotations} = metadata
    const wanted = {'ca.crt': encode(this.#rootCa.current), namespace: encode(namespace)}
    const isFilled =
      kept !== '' &&
      data['ca.crt'] === wanted['ca.crt'] &&
      data.namespace === wanted.namespace &&
      annotations?.[ACCOUNT_UID] === account.uid
    if (isFilled) return undefined
    const token =
      kept === '' ? encode(await this.#issue(secret, account.name ?? '', options)) : kept
    return {
      ...secret,
      metadata: {...metadata, annotations: {...annotations, [ACCOUNT_UID]: account.uid ?? ''}},
      data: {...data, ...wanted, token},
    }
  }

  /** Whether the key that signs now has signed the token: during a rotation, tokens of the old key are replaced while both are valid. */
  #isCurrent(data = ''): boolean {
    if (this.#keyId === undefined || data === '') return true
    const [header = ''] = Buffer.from(data, 'base64').toString().split('.')
    try {
      const {kid} = JSON.parse(Buffer.from(header, 'base64url').toString()) as {kid?: unknown}
      return kid === this.#keyId.current
    } catch {
      // Nobody could use it.
      return false
    }
  }

  async #issue({metadata}: Secret, account: string, options: CallOptions): Promise<string> {
    const {name = '', namespace = '', uid = ''} = metadata
    const request: TokenRequest = {
      metadata: {},
      spec: {
        expirationSeconds: EXPIRATION_SECONDS,
        boundObjectRef: {apiVersion: 'v1', kind: 'Secret', name, uid},
      },
    }
    const ref = {namespace, name: account}
    const issued = await this.#writer.serviceAccounts.createSubresource(
      ref,
      'token',
      request,
      options,
    )
    return issued.status?.token ?? ''
  }
}

/** Creates the Secret of an account that must have one, and says so: the old token was revoked with its Secret. */
async function recreateSecret(
  writer: Writer,
  events: EventReporter,
  key: string,
  options: CallOptions,
): Promise<void> {
  const [namespace = ''] = key.split('/')
  const ref = {namespace, name: BOOTSTRAPPER}
  const account = await writer.serviceAccounts.find(ref, options)
  if (account === undefined || !keptSecrets(account).includes(key)) return
  const {metadata} = await writer.secrets.create(bootstrapperSecret(namespace), options)
  await events.report(
    {apiVersion: 'v1', kind: 'ServiceAccount', ...ref, uid: account.metadata.uid ?? ''},
    {
      type: 'Warning',
      reason: 'BootstrapTokenReplaced',
      message: `the Secret ${key} was deleted, which revoked its token; a new one was created (uid ${metadata.uid ?? ''}). Distribute it with "trustadm bootstrap-credential create --kind token"`,
    },
    options,
  )
}

/** Changed in the meantime: that event adds the key again. A namespace that is being deleted takes nothing new. */
function passOver(error: unknown): void {
  if (!hasCode(error, 'CONFLICT', 'NOT_FOUND', 'ALREADY_EXISTS')) throw error
}

/**
 * Kubernetes' serviceaccount-token controller: fills Secrets of the type kubernetes.io/service-account-token, and deletes those of deleted accounts.
 * The token is bound to its Secret: it is refused from the moment at which the Secret is deleted.
 */
export function serviceAccountTokenController(
  reader: Reader,
  writer: Writer,
  options: TokenControllerOptions,
): ControllerSpec {
  const {rootCa, tokenKeyId, clock} = options
  const events = new EventReporter(writer, COMPONENT, clock)
  const accounts = new SecretsOfAccounts()
  const tokens = new TokenSecrets(writer, options)
  const reconcile: Reconcile = async (key, signal) => {
    const secret = await writer.secrets.find(key, {signal})
    try {
      if (secret?.type === ACCOUNT_TOKEN_TYPE) await tokens.settle(secret, {signal})
      else if (secret === undefined) {
        accounts.forget(key)
        await recreateSecret(writer, events, key, {signal})
      }
    } catch (error) {
      passOver(error)
    }
    return DONE
  }
  return {
    name: COMPONENT,
    sources: [
      follow(reader.secrets, (secret, key) => accounts.see(secret, key), {
        fieldSelector: `type=${ACCOUNT_TOKEN_TYPE}`,
      }),
      follow(reader.serviceAccounts, (account, key) => [
        ...accounts.of(key),
        ...keptSecrets(account),
      ]),
      followLive(rootCa, () => Promise.resolve(accounts.all())),
      ...(tokenKeyId ? [followLive(tokenKeyId, () => Promise.resolve(accounts.all()))] : []),
    ],
    reconcile,
    workers: 8,
  }
}

const KEEPER = 'bootstrap-token-keeper'

/** Of the controller above only that it creates the bootstrapper's Secret again: on other servers kube-controller-manager fills it. */
export function bootstrapTokenKeeper(reader: Reader, writer: Writer, clock: Clock): ControllerSpec {
  const events = new EventReporter(writer, KEEPER, clock)
  const named = (name: string) => ({
    namespace: BOOTSTRAPPER_NAMESPACE,
    fieldSelector: `metadata.name=${name}`,
  })
  const reconcile: Reconcile = async (key, signal) => {
    if (await writer.secrets.find(key, {signal})) return DONE
    await recreateSecret(writer, events, key, {signal}).catch(passOver)
    return DONE
  }
  return {
    name: KEEPER,
    sources: [
      follow(reader.secrets, (_secret, key) => [key], named(BOOTSTRAPPER_SECRET)),
      follow(reader.serviceAccounts, keptSecrets, named(BOOTSTRAPPER)),
    ],
    reconcile,
  }
}
