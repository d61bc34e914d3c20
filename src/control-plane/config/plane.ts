import {join, resolve} from 'node:path'
import {DEFAULT_MEMORY} from '../../server/limits/memory-budget.ts'
import {localAddress, type Settings} from './settings.ts'

/** A control plane: its settings and where its files are. */
export interface Plane {
  dir: string
  settings: Settings
  /** The ids of the CAs that an earlier version created. Files that are created now are recorded one by one: see `made-files.ts`. */
  generatedAuthorities: readonly string[]
  /** Made by `join --control-plane`: its objects are in the store of the other machines, and a new store would be another cluster. */
  joinedControlPlane?: boolean
}

export const FILES = {
  config: 'config.yaml',
  server: 'server.json',
  /** Why the last start of the server failed. */
  startFailure: 'start-failure.json',
  /** Which systemd unit `init --systemd` installed. */
  unitNote: 'unit.json',
  manifest: 'manifest.json',
  backups: 'backups',
  /** What the rotation of the CAs has done. */
  rotation: 'ca-rotation.json',
  /** What `restore` builds, until it takes its place. */
  restoring: '.restore',
  /** The revision that the last restore began at. */
  restored: 'restored.json',
  lock: 'lock',
  logs: 'logs',
  log: 'logs/server.log',
  audit: 'logs/audit.log',
  issuances: 'logs/issuance.log',
  /** Not beside the log, whose folder may be copied to other machines. */
  issuanceKey: 'issuance.key',
  /** By which the server and commands take turns in writing to the log. */
  issuanceLock: 'lock/issuance',
  /** Which client certificates are in use. */
  seenClients: 'seen-clients.json',
  store: 'store',
  data: 'store/data.mdb',
} as const

export const fileOf = ({dir}: Pick<Plane, 'dir'>, file: keyof typeof FILES): string =>
  join(dir, FILES[file])

export const certDirOf = ({dir, settings}: Plane): string => resolve(dir, settings.certificatesDir)

/** The folder in which both generations of every CA lie until their rotation is over. */
export const rotationFolder = (plane: Plane): string => join(certDirOf(plane), 'rotation')

const MEGABYTE = 1024 * 1024
const DAY = 86_400_000

/** Where the audit log is, and how much of it is kept. */
export const auditOf = ({dir, settings}: Plane) => ({
  path: settings.auditLogPath ?? fileOf({dir}, 'audit'),
  maxBytes: settings.auditLogMaxSize * MEGABYTE,
  maxBackups: settings.auditLogMaxBackup,
  maxAgeMilliseconds: settings.auditLogMaxAge * DAY,
})

/** In bytes: what the server may use besides the stored objects. */
export const memoryOf = ({settings: {targetRamMb}}: Pick<Plane, 'settings'>): number =>
  targetRamMb === undefined ? DEFAULT_MEMORY : targetRamMb * MEGABYTE

const bracketed = (host: string): string =>
  host.includes(':') && !host.startsWith('[') ? `[${host}]` : host

/** The `https://host:port` that clients use. */
export function endpointOf({settings}: Pick<Plane, 'settings'>): string {
  const {controlPlaneEndpoint, advertiseAddress, bindPort} = settings
  if (controlPlaneEndpoint === undefined) return urlOf(advertiseAddress, bindPort)
  const hasPort = /^(\[[^\]]+\]|[^:]+):\d+$/.test(controlPlaneEndpoint)
  return hasPort ? `https://${controlPlaneEndpoint}` : urlOf(controlPlaneEndpoint, bindPort)
}

const urlOf = (host: string, port: number): string => `https://${bracketed(host)}:${port}`

/** Where the other machines of a control plane reach the server of this one. */
export const addressOf = ({settings}: Pick<Plane, 'settings'>, port: number): string =>
  urlOf(settings.advertiseAddress, port)

/** The host that clients use. */
export const hostOfEndpoint = (plane: Pick<Plane, 'settings'>): string =>
  new URL(endpointOf(plane)).hostname.replaceAll(/[[\]]/g, '')

/** How this machine reaches its own server: by a local address, but with the name that clients use. */
export const localAccess = (
  plane: Pick<Plane, 'settings'>,
  port: number,
): {server: string; tlsServerName: string} => ({
  server: urlOf(localAddress(plane.settings), port),
  tlsServerName: hostOfEndpoint(plane),
})
