import type {PhaseObserver} from '../../phases.ts'
import {runPhases} from '../../phases.ts'
import {certDirOf, type Plane} from '../config/plane.ts'
import {savePlane} from '../config/stored.ts'
import {exclusively} from '../exclusive.ts'
import {certs} from '../init/certs.ts'
import {controlPlane} from '../init/control-plane.ts'
import {kubeconfig} from '../init/kubeconfig.ts'
import {markControlPlane} from '../init/mark-control-plane.ts'
import type {InitContext} from '../init/phase.ts'
import {preflight, requireMachine} from '../init/preflight.ts'
import {notesMade} from '../../fs/made-files.ts'
import {requireStoreOf, type Received} from './received.ts'
import {requireNoOther, writeReceived} from './received-certs.ts'

/** The checks of `init` come after the files that were received: they try etcd with them. */
const PHASES = [preflight, certs, kubeconfig, controlPlane, markControlPlane]

/**
 * Makes this machine a part of the control plane: the CAs as received, its own certificates and kubeconfigs, its settings, and a
 * server on the same etcd, which adds itself to the servers of the cluster. What can be checked before that is.
 */
export async function joinPlane(
  {files, mark}: Pick<Received, 'files' | 'mark'>,
  context: InitContext,
  resolve: () => Promise<Plane>,
  observer: PhaseObserver,
): Promise<Plane> {
  await requireNoOther(certDirOf(context.plane), files)
  await requireMachine(context)
  await exclusively(
    context.plane.dir,
    async () => {
      context.plane = {...(await resolve()), joinedControlPlane: true}
      const {plane} = context
      await requireNoOther(certDirOf(plane), files)
      await writeReceived(certDirOf(plane), files, notesMade(plane))
      await requireStoreOf(plane, mark)
      await savePlane(plane)
      await runPhases(PHASES, context, observer)
    },
    context.tell,
  )
  return context.plane
}
