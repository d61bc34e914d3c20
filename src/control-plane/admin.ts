import {join} from 'node:path'
import type {ApiClient} from '../client/api-client.ts'
import {connectTo} from '../client/connect.ts'
import {resolveAccess} from '../client/kubeconfig-access.ts'
import {readKubeconfig} from '../client/kubeconfig-files.ts'
import {lookAt} from '../pki/file-checks.ts'
import {urlOf, type Plane} from './config/plane.ts'
import {localAddress} from './config/settings.ts'

/** The administrator whose rights do not depend on RBAC, which may not be set up yet; admins may have put that file away. */
async function credentials(plane: Plane): Promise<string> {
  const strongest = join(plane.dir, 'super-admin.conf')
  return (await lookAt(strongest)) ? strongest : join(plane.dir, 'admin.conf')
}

/** A client of the server on this machine. The address in the kubeconfig may be a load balancer's that is not there yet. */
export async function connectAsAdmin(plane: Plane): Promise<ApiClient> {
  const {server, ...access} = await resolveAccess(await readKubeconfig(await credentials(plane)))
  const {bindPort} = plane.settings
  const local = bindPort === 0 ? server : urlOf(localAddress(plane.settings), bindPort)
  return connectTo({...access, server: local}, {environment: {}})
}
