import {join} from 'node:path'
import {planeCommand, startCommand} from './plane-command.ts'
import type {ApiClient} from '../client/api-client.ts'
import {connectTo, waitingAtMost} from '../client/connect.ts'
import {resolveAccess} from '../client/kubeconfig-access.ts'
import {readKubeconfig} from '../client/kubeconfig-files.ts'
import {TrustError} from '../errors.ts'
import {lookAt} from '../fs/file-checks.ts'
import {rootsOf} from './certificates.ts'
import {addressOf, localAccess, type Plane} from './config/plane.ts'
import {findServer} from './server-state.ts'

/** The administrator whose rights do not depend on RBAC, which may not be set up yet. Operators may have moved that file away. */
async function credentials(
  {dir}: Plane,
  names: readonly string[] = ['super-admin.conf', 'admin.conf'],
): Promise<string> {
  for (const name of names) {
    const file = join(dir, name)
    if (await lookAt(file)) return file
  }
  throw new TrustError('NOT_FOUND', `there is no admin.conf in ${dir}`, {
    hints: [`create it with "${planeCommand(dir, 'init phase kubeconfig')}"`],
  })
}

/** A client of the server on another machine of the control plane. */
export async function connectToServer(plane: Plane, server: string): Promise<ApiClient> {
  const {tlsServerName: _, ...access} = await resolveAccess(
    await readKubeconfig(await credentials(plane)),
  )
  const ca = await rootsOf(plane)
  const there = {...access, server, ...(ca !== undefined && {ca})}
  return connectTo(there, {environment: {}, retry: {attempts: 1}, timeout: 5000})
}

/** Somebody waits for what is only an addition. */
const SHORT = 3000

/**
 * A client of whichever server responds at the address in admin.conf, such as that of a load balancer; undefined if that is the
 * address of the server on this machine, and it is stopped.
 */
export async function connectElsewhere(
  plane: Plane,
  {isRunning}: {isRunning: boolean},
): Promise<ApiClient | undefined> {
  const file = await credentials(plane, ['admin.conf', 'super-admin.conf'])
  const access = await resolveAccess(await readKubeconfig(file))
  const own = new URL(addressOf(plane, plane.settings.bindPort))
  if (!isRunning && new URL(access.server).host === own.host) return undefined
  const ca = await rootsOf(plane)
  return connectTo(
    {...access, ...(ca !== undefined && {ca})},
    // The next connection may lead to another server.
    {retry: {attempts: 2}, timeout: SHORT, connectTimeout: SHORT},
  )
}

/** A client of the server on this machine. The address in the kubeconfig may be a load balancer that is not running yet. */
export async function connectAsAdmin(plane: Plane): Promise<ApiClient> {
  const config = await readKubeconfig(await credentials(plane))
  const running = await findServer(plane)
  if (!running) {
    throw new TrustError('SERVER_UNREACHABLE', 'the server of this control plane is not running', {
      hints: [`start it with "${await startCommand(plane)}"`],
    })
  }
  // The CAs of the folder, not those of the kubeconfig: during a rotation that may be older.
  const ca = await rootsOf(plane)
  const access = {
    ...(await resolveAccess(config)),
    ...localAccess(plane, running.port),
    ...(ca !== undefined && {ca}),
  }
  return connectTo(access, {environment: {}, ...waitingAtMost()})
}
