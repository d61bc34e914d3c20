import {join} from 'node:path'
import {planeCommand, startCommand} from './plane-command.ts'
import type {ApiClient} from '../client/api-client.ts'
import {connectTo, waitingAtMost, type ClientOptions} from '../client/connect.ts'
import {resolveAccess} from '../client/kubeconfig-access.ts'
import {readKubeconfig} from '../client/kubeconfig-files.ts'
import {withoutTrailingSlashes, type ServerAccess} from '../client/server-access.ts'
import {TrustError} from '../errors.ts'
import {lookAt} from '../fs/file-checks.ts'
import {rootsOf} from './certificates.ts'
import {addressOf, localAccess, type Plane} from './config/plane.ts'
import {findServer} from './server-state.ts'

/** The first of these kubeconfigs that is there. Operators may have moved them away. */
async function findCredentials(
  {dir}: Plane,
  names: readonly string[],
): Promise<string | undefined> {
  for (const name of names) {
    const file = join(dir, name)
    if (await lookAt(file)) return file
  }
  return undefined
}

const accessOf = async (file: string): Promise<ServerAccess> =>
  resolveAccess(await readKubeconfig(file))

/** The administrator whose rights do not depend on RBAC, which may not be set up yet. */
async function adminAccess(plane: Plane): Promise<ServerAccess> {
  const file = await findCredentials(plane, ['super-admin.conf', 'admin.conf'])
  if (file !== undefined) return await accessOf(file)
  throw new TrustError('NOT_FOUND', `there is no admin.conf in ${plane.dir}`, {
    hints: [`create it with "${planeCommand(plane.dir, 'init phase kubeconfig')}"`],
  })
}

/**
 * Trusts the CAs of the folder, not those of the kubeconfig: during a rotation that may be older. Proxy variables are ignored:
 * a proxy is for what is outside of the cluster.
 */
async function connectFrom(
  plane: Plane,
  access: ServerAccess,
  options: ClientOptions,
): Promise<ApiClient> {
  const ca = await rootsOf(plane)
  return connectTo({...access, ...(ca !== undefined && {ca})}, {environment: {}, ...options})
}

/** A client of the server on another machine of the control plane. */
export async function connectToServer(plane: Plane, server: string): Promise<ApiClient> {
  const {tlsServerName: _, ...access} = await adminAccess(plane)
  return connectFrom(plane, {...access, server}, {retry: {attempts: 1}, timeout: 5000})
}

/** Somebody waits for what is only an addition. */
const SHORT = 3000

/**
 * A client of whichever server responds at the address in admin.conf, such as that of a load balancer; undefined if that is the
 * address of the server on this machine, and it is stopped, or if there is no admin.conf.
 */
export async function connectElsewhere(
  plane: Plane,
  {isRunning}: {isRunning: boolean},
): Promise<{client: ApiClient; address: string} | undefined> {
  const file = await findCredentials(plane, ['admin.conf', 'super-admin.conf'])
  if (file === undefined) return undefined
  const access = await accessOf(file)
  const own = new URL(addressOf(plane, plane.settings.bindPort))
  if (!isRunning && new URL(access.server).host === own.host) return undefined
  // The next connection may lead to another server.
  const options = {retry: {attempts: 2}, timeout: SHORT, connectTimeout: SHORT}
  return {
    client: await connectFrom(plane, access, options),
    address: withoutTrailingSlashes(access.server),
  }
}

/** A client of the server on this machine. The address in the kubeconfig may be a load balancer that is not running yet. */
export async function connectAsAdmin(plane: Plane): Promise<ApiClient> {
  const access = await adminAccess(plane)
  const running = await findServer(plane)
  if (!running) {
    throw new TrustError('SERVER_UNREACHABLE', 'the server of this control plane is not running', {
      hints: [`start it with "${await startCommand(plane)}"`],
    })
  }
  return connectFrom(plane, {...access, ...localAccess(plane, running.port)}, waitingAtMost())
}
