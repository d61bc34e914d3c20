import {join} from 'node:path'
import {isDeepStrictEqual} from 'node:util'
import type {BootstrapTokenInfo} from '../../bootstrap/token-info.ts'
import {formatToken} from '../../bootstrap/token.ts'
import {planPhases, runPhases, type PhaseObserver, type Plan} from '../../phases.ts'
import {lookAt} from '../../fs/file-checks.ts'
import {pinsOf} from '../../discovery/cluster-info.ts'
import {CLUSTER_CA, findAuthority} from '../certificates.ts'
import {endpointOf, fileOf, type Plane} from '../config/plane.ts'
import {findPlane, savePlane} from '../config/stored.ts'
import {exclusively} from '../exclusive.ts'
import {joinCommand} from '../tokens/join-command.ts'
import {bootstrapToken} from './bootstrap-token.ts'
import {certs} from './certs.ts'
import {clusterInfo} from './cluster-info.ts'
import {controlPlane} from './control-plane.ts'
import {kubeadmConfigs} from './kubeadm-configs.ts'
import {kubeconfig} from './kubeconfig.ts'
import {markControlPlane} from './mark-control-plane.ts'
import {INIT_PHASE_NAMES, type InitPhaseName} from './names.ts'
import {namespaces} from './namespaces.ts'
import type {InitContext, InitPhase} from './phase.ts'
import {preflight} from './preflight.ts'
import {rbac} from './rbac.ts'
import {uploadCerts} from './upload-certs.ts'

/** What `init --output json` prints. */
export interface InitResult {
  endpoint: string
  /** SPKI pins of the cluster's CAs, as `--discovery-token-ca-cert-hash` takes them. */
  caCertHashes: string[]
  /** Null with `--skip-token-print`, and if no token was created. */
  token: string | null
  joinCommand: string | null
  /** What the CAs were uploaded with; null if they were not, and with `--skip-certificate-key-print`. */
  certificateKey: string | null
  /** For the next machine of the control plane, while the CAs are uploaded. */
  controlPlaneJoinCommand: string | null
  kubeconfig: string
  dir: string
}

export const INIT_PHASES: Readonly<Record<InitPhaseName, InitPhase>> = {
  preflight,
  certs,
  kubeconfig,
  'control-plane': controlPlane,
  namespaces,
  rbac,
  'kubeadm-config': kubeadmConfigs,
  'cluster-info': clusterInfo,
  'mark-control-plane': markControlPlane,
  'bootstrap-token': bootstrapToken,
  'upload-certs': uploadCerts,
}

/** The CAs are uploaded only on request. */
export const initPhases = (
  skipped: readonly InitPhaseName[] = [],
  {uploads = false} = {},
): InitPhase[] =>
  INIT_PHASE_NAMES.filter((name) => !skipped.includes(name))
    .filter((name) => uploads || name !== 'upload-certs')
    .map((name) => INIT_PHASES[name])

const isSaved = async (plane: Plane): Promise<boolean> =>
  isDeepStrictEqual(await findPlane(plane.dir), plane)

/**
 * Runs the phases while no other command changes the control plane. Then calls `resolve` again, because another run may have picked the
 * port and created the CAs in the meantime. On a machine without a control plane, the checks run before anything is written.
 */
export async function runInit(
  phases: readonly InitPhase[],
  context: InitContext,
  observer: PhaseObserver,
  resolve: () => Promise<Plane>,
): Promise<void> {
  const checks = phases.filter(({isCheck}) => isCheck)
  const changes = phases.filter(({isCheck}) => !isCheck)
  if (changes.length === 0) return await runPhases(checks, context, observer)
  const {dir} = context.plane
  if (!(await lookAt(dir))) await planPhases(checks, context)
  await exclusively(
    dir,
    async () => {
      context.plane = await resolve()
      await runPhases(checks, context, observer)
      if (!(await isSaved(context.plane))) await savePlane(context.plane)
      await runPhases(changes, context, observer)
    },
    context.tell,
  )
}

/** What the phases would change. */
export async function planInit(phases: readonly InitPhase[], context: InitContext): Promise<Plan> {
  const {plane} = context
  const changes = await planPhases(phases, context)
  const isComplete = phases.every(({isCheck}) => isCheck) || (await isSaved(plane))
  const saving = {phase: 'configuration', change: `save the settings in ${fileOf(plane, 'config')}`}
  return {dir: plane.dir, changes: isComplete ? changes : [saving, ...changes]}
}

/** Without `token` or `certificateKey` if nobody should see it, or there is none. */
export async function describePlane(
  plane: Plane,
  token?: BootstrapTokenInfo,
  certificateKey?: string,
): Promise<InitResult> {
  const authority = await findAuthority(plane, CLUSTER_CA)
  const endpoint = endpointOf(plane)
  const caCertHashes = pinsOf(authority?.bundle ?? [])
  const line = token ? joinCommand({server: endpoint, caCertHashes}, token) : null
  return {
    endpoint,
    caCertHashes,
    token: token ? formatToken(token.token) : null,
    joinCommand: line,
    certificateKey: certificateKey ?? null,
    controlPlaneJoinCommand:
      line !== null && certificateKey !== undefined
        ? `${line} --control-plane --certificate-key ${certificateKey}`
        : null,
    kubeconfig: join(plane.dir, 'admin.conf'),
    dir: plane.dir,
  }
}
