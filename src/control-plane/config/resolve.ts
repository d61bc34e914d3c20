import {randomInt} from 'node:crypto'
import {createServer, type AddressInfo} from 'node:net'
import {join, resolve} from 'node:path'
import {TrustError, messageOf, systemCode} from '../../errors.ts'
import {catalogFor} from '../../pki/catalog.ts'
import {lookAt, requirePlainPath} from '../../fs/file-checks.ts'
import {readFileSafely} from '../../fs/files.ts'
import {parseConfigFile, type FileChoices} from './config-file.ts'
import {withOwnFiles} from './etcd.ts'
import {nodeName} from './fields.ts'
import {certDirOf, fileOf, type Plane} from './plane.ts'
import {complete, isWildcard, type Choices, type Settings} from './settings.ts'
import {adapt, findPlane} from './stored.ts'

export interface PlaneRequest {
  dir: string
  /** Flags win over the file. */
  flags: Choices
  file?: FileChoices | undefined
}

export async function readConfigFile(path: string): Promise<FileChoices> {
  const content = await readFileSafely(path, {followLinks: true})
  return parseConfigFile(content.toString(), path)
}

/** The requested control plane, combined with the existing one. Writes nothing. */
export async function resolvePlane({dir, flags, file}: PlaneRequest): Promise<Plane> {
  const folder = resolve(dir)
  const choices = normal(folder, {...file?.choices, ...flags})
  const standing = await findPlane(folder)
  // The settings of a run that was killed before it created anything do not count.
  if (standing && (await hasState(standing))) {
    const settings = adapt(await withStore(standing, choices), choices, dir)
    return {...standing, settings: await withOwnFiles(certDirOf(standing), settings, choices)}
  }
  const completed = complete(folder, {...standing?.settings, ...choices})
  const settings = await withOwnFiles(completed.certificatesDir, completed, choices)
  // The only setting that is not checked yet: its default is the host name of the machine.
  nodeName(settings.nodeName, 'the host name of this machine, or --node-name,')
  return {
    dir: folder,
    settings: {...settings, bindPort: settings.bindPort || (await pickPort(settings))},
    generatedAuthorities: standing?.generatedAuthorities ?? [],
    ...(standing?.joinedControlPlane && {joinedControlPlane: true}),
  }
}

/** Until there is an embedded store, a control plane may be told that its store is etcd. */
async function withStore(plane: Plane, choices: Choices): Promise<Settings> {
  const {settings} = plane
  const {etcdServers, etcdPrefix} = choices
  if (settings.etcdServers || !etcdServers || (await lookAt(fileOf(plane, 'data')))) return settings
  return {...settings, etcdServers, ...(etcdPrefix !== undefined && {etcdPrefix})}
}

/** Folders are stored with their full path. Advertising a wildcard address means the default, as in kubeadm. */
function normal(dir: string, {certificatesDir, advertiseAddress, ...others}: Choices): Choices {
  return {
    ...others,
    ...(certificatesDir !== undefined && {
      certificatesDir: requirePlainPath(resolve(dir, certificatesDir)),
    }),
    ...(advertiseAddress !== undefined && !isWildcard(advertiseAddress) && {advertiseAddress}),
  }
}

/** Whether something exists that depends on the settings: the store, or a certificate or kubeconfig of ours. */
async function hasState(plane: Plane): Promise<boolean> {
  const certDir = certDirOf(plane)
  // Those of an etcd are created before its address is known.
  const leaves = catalogFor().leaves.map(({place}) =>
    place.kind === 'pair' ? join(certDir, place.crt) : join(plane.dir, place.file),
  )
  const found = await Promise.all([fileOf(plane, 'store'), ...leaves].map(lookAt))
  return found.some((stats) => stats !== undefined)
}

/** Below the ports that systems give to outgoing connections, and that Kubernetes gives to services: a stored port must stay free. */
const [FIRST_PORT, LAST_PORT] = [10_000, 29_999]
const MOST_TRIES = 50

/** A free port. It is stored, so that kubeconfigs stay valid after restarts. */
async function pickPort({bindAddress}: Settings): Promise<number> {
  try {
    for (let tries = 1; ; tries++) {
      const port = tries < MOST_TRIES ? randomInt(FIRST_PORT, LAST_PORT + 1) : 0
      const free = await tryPort(bindAddress, port)
      if (free !== undefined) return free
    }
  } catch (error) {
    throw new TrustError(
      'PREFLIGHT_FAILED',
      `cannot listen on ${bindAddress}: ${messageOf(error)}`,
      {cause: error, hints: ['choose an address of this machine with --bind-address']},
    )
  }
}

/** Returns the port if it is free; 0 stands for any. */
async function tryPort(host: string, port: number): Promise<number | undefined> {
  const server = createServer()
  try {
    await new Promise<void>((listening, fail) => {
      server.once('error', fail)
      server.listen({host, port}, listening)
    })
    return (server.address() as AddressInfo).port
  } catch (error) {
    if (port !== 0 && systemCode(error) === 'EADDRINUSE') return undefined
    throw error
  } finally {
    server.close()
  }
}
