import {join} from 'node:path'
import {isDeepStrictEqual} from 'node:util'
import {stringify} from 'yaml'
import {formatDuration} from '../../bootstrap/durations.ts'
import {shellWord} from '../../client/printable.ts'
import {TrustError} from '../../errors.ts'
import {defaultDir} from '../../fs/default-folders.ts'
import {lookAt} from '../../fs/file-checks.ts'
import {readFileIfThere, writeFileSafely} from '../../fs/files.ts'
import {ensureFolder} from '../../fs/folders.ts'
import {formatClusterSigning} from './cluster-signing.ts'
import {parseConfigFile} from './config-file.ts'
import {OURS} from './config-kinds.ts'
import {fileOf, type Plane} from './plane.ts'
import {complete, type Choices, type Settings} from './settings.ts'

let parsed: {text: string; path: string; file: ReturnType<typeof parseConfigFile>} | undefined

/** The start of a server reads its configuration twice: what it says is found out again only if it has changed. */
function parseOnce(text: string, path: string): ReturnType<typeof parseConfigFile> {
  if (parsed?.text !== text || parsed.path !== path) {
    parsed = {text, path, file: parseConfigFile(text, path)}
  }
  return parsed.file
}

/** The control plane in a folder; undefined if there is none. Refuses a file of another program. `home` is where its settings are for now. */
export async function findPlane(dir: string, home = dir): Promise<Plane | undefined> {
  const path = fileOf({dir: home}, 'config')
  const content = await readFileIfThere(path)
  if (!content) {
    if (await lookAt(fileOf({dir}, 'restoring'))) throw halfRestored(dir)
    if (await lookAt(fileOf({dir}, 'data'))) throw settingsLost(dir, 'the store')
    if (await isOnEtcd(dir)) throw settingsLost(dir, 'certificates')
    return undefined
  }
  const file = parseOnce(content.toString(), path)
  const {choices, documents, generatedAuthorities = [], joinedControlPlane} = file
  if (!isDeepStrictEqual(documents, [`${OURS.apiVersion} ${OURS.kind}`])) {
    throw new TrustError(
      'CONFIG_INVALID',
      `${path} is not the configuration of a control plane of trustadm`,
      {
        hints: ['name the folder of the control plane with --dir'],
      },
    )
  }
  return {
    dir,
    settings: complete(dir, choices),
    generatedAuthorities,
    ...(joinedControlPlane && {joinedControlPlane}),
  }
}

/** Its objects are elsewhere, but its kubeconfigs are here: `init` writes them after the settings, and `reset` removes them before. */
const isOnEtcd = async (dir: string): Promise<boolean> =>
  (await lookAt(fileOf({dir}, 'manifest'))) !== undefined &&
  (await lookAt(join(dir, 'admin.conf'))) !== undefined

/** Without the settings, the port and names that clients use would be overwritten by others. */
function settingsLost(dir: string, what: string): TrustError {
  return new TrustError(
    'CONFIG_INVALID',
    `${dir} contains ${what} of a control plane, but no config.yaml`,
    {
      hints: [
        'restore config.yaml from a backup, or write it again with the same settings',
        `or move ${dir} away and start over`,
      ],
    },
  )
}

function halfRestored(dir: string): TrustError {
  return new TrustError('CONFIG_INVALID', `a restore of ${dir} was interrupted`, {
    hints: [
      'run "trustadm restore" again, with the same backup: it starts over',
      `what was there before is in ${fileOf({dir}, 'backups')}/restore-<time>`,
    ],
  })
}

export async function loadPlane(dir: string, home = dir): Promise<Plane> {
  const plane = await findPlane(dir, home)
  if (plane) return plane
  throw new TrustError('NOT_FOUND', `there is no control plane in ${dir}`, {
    hints: dir === defaultDir() ? HINTS : await hintsForNamed(dir),
  })
}

const HINTS = ['set one up with "trustadm init"', 'or name its folder with --dir']

/** Somebody who has named a folder may have named the wrong one. */
async function hintsForNamed(dir: string): Promise<string[]> {
  const usual = defaultDir()
  const isElsewhere = await lookAt(fileOf({dir: usual}, 'config')).catch(() => undefined)
  return [
    isElsewhere
      ? `there is one in ${usual}: leave out --dir to use that`
      : 'check the name: the folder of a control plane contains config.yaml',
    `or set one up there with "trustadm init --dir ${shellWord(dir)}"`,
  ]
}

/** Writes the configuration as a whole, for its owner only. */
export async function savePlane(plane: Plane): Promise<void> {
  const {dir, settings, generatedAuthorities, joinedControlPlane} = plane
  const document = {
    ...OURS,
    ...settings,
    certificateValidityPeriod: formatDuration(settings.certificateValidityPeriod),
    caCertificateValidityPeriod: formatDuration(settings.caCertificateValidityPeriod),
    ...(settings.storeTimeout !== undefined && {
      storeTimeout: formatDuration(settings.storeTimeout),
    }),
    signers: settings.signers.map((signer) => ({
      ...signer,
      maxValidityPeriod: formatDuration(signer.maxValidityPeriod),
    })),
    ...(settings.clusterSigning && {
      clusterSigning: formatClusterSigning(settings.clusterSigning),
    }),
    generatedAuthorities,
    ...(joinedControlPlane && {joinedControlPlane}),
  }
  await ensureFolder(dir)
  await writeFileSafely(fileOf({dir}, 'config'), stringify(document, {lineWidth: 0}))
}

/** Settings that may change later. The others are part of certificates and kubeconfigs on many machines. */
const CHANGEABLE: readonly (keyof Settings)[] = [
  'servingCIDRs',
  'servingDomains',
  'signers',
  'authorities',
  'clusterSigning',
  'keyAlgorithm',
  'certificateValidityPeriod',
  'caCertificateValidityPeriod',
  'auditLogPath',
  'auditLogMaxSize',
  'auditLogMaxBackup',
  'auditLogMaxAge',
  'quotaBackendBytes',
  'targetRamMb',
  'certificateRequestsPerHour',
  'storeTimeout',
  'etcdServers',
  'etcdCaFile',
  'etcdCertFile',
  'etcdKeyFile',
  'featureGates',
]

const FLAGS: Partial<Record<keyof Settings, string>> = {
  advertiseAddress: '--apiserver-advertise-address',
  bindAddress: '--bind-address',
  bindPort: '--apiserver-bind-port',
  nodeName: '--node-name',
  controlPlaneEndpoint: '--control-plane-endpoint',
  certificatesDir: '--cert-dir',
  etcdServers: '--etcd-servers',
  etcdPrefix: '--etcd-prefix',
}

/**
 * The settings of an existing control plane, combined with new ones. New names for the serving certificate are added; settings
 * that cannot change are refused.
 */
export function adapt(standing: Settings, choices: Choices, dir = defaultDir()): Settings {
  const adapted: Settings = {
    ...standing,
    certSANs: [...new Set([...standing.certSANs, ...(choices.certSANs ?? [])])],
  }
  for (const [name, value] of Object.entries(choices) as [keyof Settings, unknown][]) {
    const isPickedPort = name === 'bindPort' && value === 0
    if (name === 'certSANs' || isPickedPort || isDeepStrictEqual(standing[name], value)) continue
    // Its members may change, but not which store it is.
    const isOtherStore = name === 'etcdServers' && standing.etcdServers === undefined
    if (isOtherStore || !CHANGEABLE.includes(name)) {
      throw contradiction(name, {standing: standing[name], wanted: value, dir})
    }
    Object.assign(adapted, {[name]: value})
  }
  return adapted
}

function contradiction(
  name: keyof Settings,
  {standing, wanted, dir}: {standing: unknown; wanted: unknown; dir: string},
): TrustError {
  // Without it, another control plane would be changed or removed.
  const flag = dir === defaultDir() ? '' : ` --dir ${shellWord(dir)}`
  const shown = FLAGS[name] ?? name
  const there =
    standing === undefined ? `without ${shown}` : `with ${shown} ${JSON.stringify(standing)}`
  return new TrustError(
    'CONFLICT',
    `the control plane is already set up ${there}; it cannot be changed to ${JSON.stringify(wanted)}`,
    {
      hints: [
        `leave out ${shown} to keep the existing setting`,
        ...(name === 'etcdServers'
          ? [`or back them up, and restore them to etcd with "trustadm restore --to etcd${flag}"`]
          : []),
        `or remove the control plane, with everything stored in it, with "trustadm reset${flag}"`,
      ],
    },
  )
}
