import {formatToken} from '../../bootstrap/token.ts'
import type {ServerAccess} from '../../client/server-access.ts'
import {withoutTrailingSlashes} from '../../client/server-access.ts'
import {ensureTokens, planTokens} from '../init/bootstrap-token.ts'
import {AT_LEAST, ensureObjects, planObjects} from '../init/objects.ts'
import {joinRbac} from '../init/rbac.ts'
import {joinCommand, joinTarget} from '../tokens/join-command.ts'
import {clusterInfo} from './cluster-info.ts'
import {kubeadmConfigs} from './kubeadm-config.ts'
import type {MissingController} from './controllers.ts'
import type {ExistingContext, ExistingPhase, ExistingPhaseName} from './phase.ts'

/** What `init --kubeconfig` prints. */
export interface ExistingResult {
  endpoint: string
  caCertHashes: string[]
  /** Null with `--skip-token-print`, and if no token was created. */
  token: string | null
  joinCommand: string | null
  kubeconfig: string
  /** Controllers that joining needs, and that nobody runs in this cluster. */
  missingControllers: MissingController[]
}

const rbac: ExistingPhase = {
  name: 'rbac',
  summary: 'allow machines to join',
  plan: ({client}) => planObjects(client, joinRbac(AT_LEAST)),
  run: ({client, tell}) => ensureObjects(client, joinRbac(AT_LEAST), tell),
}

const bootstrapToken: ExistingPhase = {
  name: 'bootstrap-token',
  summary: 'create a token for joining machines',
  plan: (context) => planTokens(context.client, context),
  run: (context) => ensureTokens(context.client, context, context.commandFor),
}

export const EXISTING_PHASES: Readonly<Record<ExistingPhaseName, ExistingPhase>> = {
  rbac,
  'kubeadm-config': kubeadmConfigs,
  'cluster-info': clusterInfo,
  'bootstrap-token': bootstrapToken,
}

/** The access with its CA, which machines pin; refuses one that has none. */
export function requireCa(access: ServerAccess): ExistingContext['access'] {
  joinTarget(access)
  return {...access, ca: access.ca ?? ''}
}

export function describeExisting(
  {access, joinToken}: Pick<ExistingContext, 'access' | 'joinToken'>,
  {
    kubeconfig,
    showsToken,
    missing,
  }: {
    kubeconfig: string
    showsToken: boolean
    missing: MissingController[]
  },
): ExistingResult {
  const target = joinTarget(access)
  const shown = showsToken ? joinToken : undefined
  return {
    endpoint: withoutTrailingSlashes(access.server),
    caCertHashes: [...target.caCertHashes],
    token: shown ? formatToken(shown.token) : null,
    joinCommand: shown ? joinCommand(target, shown) : null,
    kubeconfig,
    missingControllers: missing,
  }
}
