import {TOKEN_SECRET_PREFIX} from '../bootstrap/token-secret.ts'
import type {OpenAnswers} from './open-answers.ts'
import type {ObjectEvent} from './registry/event-log.ts'
import type {Registry} from './registry/registry.ts'

const POLICY = ['clusterroles', 'clusterrolebindings', 'roles', 'rolebindings']
/** What tokens are made of or bound to. */
const BEHIND_TOKENS = ['secrets', 'serviceaccounts', 'pods', 'nodes']

/** Tells open answers of every stored change that may take a right or a token away. */
export function feedOpenAnswers(registry: Registry, answers: OpenAnswers): void {
  for (const plural of POLICY) {
    registry.store('rbac.authorization.k8s.io', plural)?.onEvents(() => answers.changed('all'))
  }
  for (const plural of BEHIND_TOKENS) {
    registry.store('', plural)?.onEvents((events) => {
      if (events.some(endsTokens)) answers.changed('bearers')
    })
  }
}

function endsTokens({current, previous}: ObjectEvent): boolean {
  if (previous === undefined) return false
  if (current === undefined || current.name.startsWith(TOKEN_SECRET_PREFIX)) return true
  return current.json.includes('"deletionTimestamp"')
}
