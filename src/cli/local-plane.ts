import {constants} from 'node:fs'
import {access} from 'node:fs/promises'
import {basename, delimiter, dirname} from 'node:path'
import {resolveAccess} from '../client/kubeconfig-access.ts'
import {readKubeconfig} from '../client/kubeconfig-files.ts'
import {fileOf} from '../control-plane/config/plane.ts'
import {findKubeconfig, type ClusterFlagValues} from './cluster.ts'

/** What this machine has of the control plane that a command works with. */
export interface LocalPlane {
  /** Its issuance log; undefined if it is elsewhere, or if the caller may not read it. */
  log: string | undefined
  /** The client certificates of its own kubeconfigs, as PEM. */
  certificates: string[]
}

const KUBECONFIGS = ['admin.conf', 'super-admin.conf', 'controller-manager.conf', 'scheduler.conf']

async function certificateIn(file: string): Promise<string[]> {
  try {
    const {clientCertificate} = await resolveAccess(await readKubeconfig(file))
    return clientCertificate ? [clientCertificate.certificate] : []
  } catch {
    // Moved away, or another user's.
    return []
  }
}

const isReadable = (file: string): Promise<boolean> =>
  access(file, constants.R_OK).then(
    () => true,
    () => false,
  )

type Environment = Record<string, string | undefined>

/** The one file that $KUBECONFIG names; undefined if there are several: they may be of several clusters. */
function kubeconfigIn({KUBECONFIG = ''}: Environment): string | undefined {
  const [file, ...more] = KUBECONFIG.split(delimiter).filter((name) => name !== '')
  return more.length === 0 ? file : undefined
}

/** The log beside the kubeconfig that is used: that of the same cluster, wherever else this machine has one. */
export async function findLocalPlane(
  flags: ClusterFlagValues,
  environment: Environment = process.env,
): Promise<LocalPlane> {
  const kubeconfig = (await findKubeconfig(flags, environment)) ?? kubeconfigIn(environment)
  if (kubeconfig === undefined || !KUBECONFIGS.includes(basename(kubeconfig))) {
    return {log: undefined, certificates: []}
  }
  const dir = dirname(kubeconfig)
  const log = fileOf({dir}, 'issuances')
  const certificates = await Promise.all(KUBECONFIGS.map((name) => certificateIn(`${dir}/${name}`)))
  return {log: (await isReadable(log)) ? log : undefined, certificates: certificates.flat()}
}
