import type * as api from '../../api/authentication.ts'
import type {ServiceAccount} from '../../api/core.ts'
import type {ApiObject, Received} from '../../api/meta.ts'
import type {Pod} from '../../api/pod.ts'
import {type FieldError, invalidValue} from '../kernel/field-error.ts'
import {type OperationContext, type Resource, type Subresource} from '../kernel/resource.ts'
import type {BoundObject, ServerServices} from '../kernel/services.ts'
import {badRequest, conflict, invalid, notFound} from '../kernel/status.ts'
import {AGE, defineResource, NAME} from './define.ts'
import {formatTimestamp} from '../../runtime.ts'

/** References to secrets are kept by name only. */
function reduceSecrets(account: ServiceAccount): void {
  if (account.secrets === undefined) return
  account.secrets = account.secrets.map(({name}) => (name === undefined ? {} : {name}))
}

/** Without services the row is only data: tokens cannot be created. */
export const serviceAccounts = (services?: ServerServices): Resource =>
  defineResource<ServiceAccount>({
    plural: 'serviceaccounts',
    type: 'core/v1.ServiceAccount',
    shortNames: ['sa'],
    namespaced: true,
    strategy: {prepareForCreate: reduceSecrets, prepareForUpdate: reduceSecrets},
    subresources: {token: tokenSubresource(services)},
    columns: [NAME, AGE],
  })

type TokenRequest = Received<api.TokenRequest>
type BoundReference = NonNullable<NonNullable<TokenRequest['spec']>['boundObjectRef']>

const KIND = {group: 'authentication.k8s.io', kind: 'TokenRequest'}
const DEFAULT_SECONDS = 3600
const LEAST_SECONDS = 600
const MOST_SECONDS = 2 ** 32
const BINDABLE: Record<string, {plural: string; namespaced: boolean}> = {
  Pod: {plural: 'pods', namespaced: true},
  Secret: {plural: 'secrets', namespaced: true},
  Node: {plural: 'nodes', namespaced: false},
}

function validateIdentity({metadata}: TokenRequest, {namespace, name}: OperationContext) {
  const errors: FieldError[] = []
  if (metadata.name && metadata.name !== name) {
    const why = 'must match the service account name if specified'
    errors.push(invalidValue('metadata.name', metadata.name, why))
  }
  if (metadata.namespace && metadata.namespace !== namespace) {
    const why = 'must match the service account namespace if specified'
    errors.push(invalidValue('metadata.namespace', metadata.namespace, why))
  }
  return errors
}

function validateSeconds(seconds: number): FieldError[] {
  const field = 'spec.expirationSeconds'
  if (seconds < LEAST_SECONDS) {
    return [invalidValue(field, seconds, 'may not specify a duration less than 10 minutes')]
  }
  return seconds > MOST_SECONDS
    ? [invalidValue(field, seconds, 'may not specify a duration larger than 2^32 seconds')]
    : []
}

function nodeOf({spec}: Pod, {objects}: OperationContext): Pick<BoundObject, 'node'> {
  if (!spec?.nodeName) return {}
  const uid = objects.get('nodes', '', '', spec.nodeName)?.metadata.uid
  return uid === undefined ? {} : {node: {name: spec.nodeName, uid}}
}

function resolveBound(reference: BoundReference, context: OperationContext): BoundObject {
  const {kind = '', apiVersion = '', name = '', uid: wanted = ''} = reference
  const target = apiVersion === 'v1' && Object.hasOwn(BINDABLE, kind) ? BINDABLE[kind] : undefined
  if (target === undefined) {
    const [version = '', group = ''] = apiVersion.split('/').reverse()
    throw badRequest(`cannot bind token to object of type ${group}/${version}, Kind=${kind}`)
  }
  const namespace = target.namespaced ? context.namespace : ''
  const object = context.objects.get(target.plural, '', namespace, name)
  if (object === undefined) throw notFound({group: '', plural: target.plural}, name)
  if (kind === 'Pod' && (object as Pod).spec?.serviceAccountName !== context.name) {
    throw badRequest(
      `cannot bind token for serviceaccount "${context.name}" to pod running with different serviceaccount name.`,
    )
  }
  const {uid = ''} = object.metadata
  if (wanted !== '' && wanted !== uid) {
    throw conflict(
      {group: '', plural: kind},
      name,
      `the UID in the bound object reference (${wanted}) does not match the UID in record. The object might have been deleted and then recreated`,
    )
  }
  const node = kind === 'Pod' ? nodeOf(object, context) : {}
  return {kind: kind as BoundObject['kind'], name, uid, ...node}
}

/** `serviceaccounts/<name>/token`, as in the TokenRequest API. */
const tokenSubresource = (services?: ServerServices): Subresource<ServiceAccount> => ({
  verbs: ['create'],
  kind: {
    group: KIND.group,
    version: 'v1',
    kind: KIND.kind,
    type: 'authentication/v1.TokenRequest',
  },
  ...(services === undefined
    ? {}
    : {create: (body, account, context) => issue(body, account, context, services)}),
})

async function issue(
  request: TokenRequest,
  {metadata}: ServiceAccount,
  context: OperationContext,
  services: ServerServices,
): Promise<ApiObject> {
  const mismatches = validateIdentity(request, context)
  if (mismatches.length > 0) throw invalid(KIND, context.name, mismatches)
  const {audiences, expirationSeconds, boundObjectRef} = request.spec ?? {}
  const seconds = expirationSeconds ?? DEFAULT_SECONDS
  const errors = validateSeconds(seconds)
  if (errors.length > 0) throw invalid(KIND, '', errors)

  const {name = '', namespace = '', uid = ''} = metadata
  const granted = audiences?.length ? audiences : services.audiences
  const {token, expires} = await services.issueToken({
    serviceAccount: {namespace, name, uid},
    audiences: granted,
    expirationSeconds: seconds,
    ...(boundObjectRef ? {bound: resolveBound(boundObjectRef, context)} : {}),
  })
  return {
    kind: KIND.kind,
    apiVersion: `${KIND.group}/v1`,
    metadata: {name, namespace, uid, creationTimestamp: formatTimestamp(context.clock.now())},
    spec: {
      audiences: granted,
      expirationSeconds: seconds,
      boundObjectRef: boundObjectRef ?? null,
    },
    status: {token, expirationTimestamp: formatTimestamp(expires)},
  }
}
