import type {ServiceAccount} from '../../api/core.ts'
import type {Resource} from '../kernel/resource.ts'
import {ALL_VERBS} from '../kernel/resource.ts'
import type {ServerServices} from '../kernel/services.ts'
import {AGE, NAME} from './columns.ts'
import {defineResource} from './define.ts'
import {tokenSubresource} from './service-account-tokens.ts'

/** References to secrets are kept by name only. */
function reduceSecrets(account: ServiceAccount): void {
  if (account.secrets === undefined) return
  account.secrets = account.secrets.map(({name}) => (name === undefined ? {} : {name}))
}

/** Without services the row is only data: tokens cannot be created. */
export const serviceAccounts = (services?: ServerServices): Resource =>
  defineResource<ServiceAccount>({
    group: '',
    version: 'v1',
    plural: 'serviceaccounts',
    singular: 'serviceaccount',
    kind: 'ServiceAccount',
    type: 'core/v1.ServiceAccount',
    shortNames: ['sa'],
    namespaced: true,
    verbs: ALL_VERBS,
    strategy: {prepareForCreate: reduceSecrets, prepareForUpdate: reduceSecrets},
    subresources: {token: tokenSubresource(services)},
    columns: [NAME, AGE],
  })
