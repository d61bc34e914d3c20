import {parseDuration} from '../bootstrap/durations.ts'
import {parseToken} from '../bootstrap/token.ts'
import {KUBEADM, OURS} from '../control-plane/config/config-kinds.ts'
import {
  readDocuments,
  type DocumentRules,
  type Field,
} from '../control-plane/config/document-reader.ts'
import type {Read} from '../control-plane/config/fields.ts'
import {TrustError} from '../errors.ts'
import {requireNodeName} from '../node/node-name.ts'
import {readFileSafely} from '../fs/files.ts'
import {controlPlaneRefused} from './join-flags.ts'

/** What a configuration file says about a join. */
export interface JoinChoices {
  dir?: string
  certDir?: string
  nodeName?: string
  endpoints?: string[]
  /** Used for discovery and for authentication. */
  token?: string
  discoveryToken?: string
  tlsBootstrapToken?: string
  caCertHashes?: string[]
  unsafeSkipCaVerification?: boolean
  discoveryFile?: string
  discoveryFileCa?: string
  bootstrapKubeconfig?: string
  forKubelet?: boolean
  dryRun?: boolean
  discoveryTimeout?: number
  certificateTimeout?: number
  timeout?: number
  skipPhases?: string[]
  ignoredChecks?: string[]
}

export interface JoinFile {
  choices: JoinChoices
  warnings: string[]
}

/** The value is not shown: in the wrong line, or with a letter too many, it is still most of a token. */
function refuse(name: string, expected: string): never {
  throw new TrustError('CONFIG_INVALID', `${name} must be ${expected}`)
}

/** An empty string counts as not set, as in kubeadm. */
const text: Read<string | undefined> = (value, name) =>
  typeof value === 'string' ? value || undefined : refuse(name, 'a string')

const texts: Read<string[]> = (value, name) =>
  Array.isArray(value) && value.every((one) => typeof one === 'string')
    ? value
    : refuse(name, 'a list of strings')

const flag: Read<boolean> = (value, name) =>
  typeof value === 'boolean' ? value : refuse(name, 'true or false')

const token: Read<string | undefined> = (value, name) => {
  const given = text(value, name)
  if (given !== undefined) parseToken(given)
  return given
}

const oneEndpoint: Read<string[]> = (value, name) => {
  const given = text(value, name)
  return given === undefined ? [] : [given]
}

const nodeName: Read<string> = (value, name) => requireNodeName(text(value, name) ?? '', name)

const duration: Read<number> = (value, name) => parseDuration(text(value, name) ?? '', name)

const controlPlane: Read<never> = (_value, name) => {
  throw controlPlaneRefused(name)
}

type Target = keyof JoinChoices

const use = (to: Target, read: Read<unknown>): Field<Target> => ({to, read})
const unused = (...names: string[]): Record<string, Field<Target>> =>
  Object.fromEntries(names.map((name) => [name, 'unused']))

/** As the kind of kubeadm's that it stands for. */
const KIND = 'JoinConfiguration'

const RULES: DocumentRules<Target> = {
  kubeadm: KUBEADM,
  ours: OURS.apiVersion,
  otherKinds: [
    'InitConfiguration',
    'ClusterConfiguration',
    'ResetConfiguration',
    'UpgradeConfiguration',
    OURS.kind,
  ],
  expected: `a configuration holds ${KIND} of ${KUBEADM}, or of ${OURS.apiVersion}`,
  kinds: {
    [`${KUBEADM} ${KIND}`]: {
      nodeRegistration: {
        name: use('nodeName', nodeName),
        ignorePreflightErrors: use('ignoredChecks', texts),
        ...unused('criSocket', 'taints', 'kubeletExtraArgs', 'imagePullPolicy', 'imagePullSerial'),
      },
      discovery: {
        bootstrapToken: {
          token: use('discoveryToken', token),
          apiServerEndpoint: use('endpoints', oneEndpoint),
          caCertHashes: use('caCertHashes', texts),
          unsafeSkipCAVerification: use('unsafeSkipCaVerification', flag),
        },
        file: {kubeConfigPath: use('discoveryFile', text)},
        tlsBootstrapToken: use('tlsBootstrapToken', token),
        // From v1beta3, and still in many files.
        timeout: use('discoveryTimeout', duration),
      },
      timeouts: {
        discovery: use('discoveryTimeout', duration),
        tlsBootstrap: use('certificateTimeout', duration),
        ...unused('controlPlaneComponentHealthCheck', 'etcdAPICall', 'kubeletHealthCheck'),
        ...unused('kubernetesAPICall', 'upgradeManifests'),
      },
      controlPlane: use('dir', controlPlane),
      dryRun: use('dryRun', flag),
      skipPhases: use('skipPhases', texts),
      ...unused('caCertPath', 'patches'),
    },
    [`${OURS.apiVersion} ${KIND}`]: {
      dir: use('dir', text),
      certDir: use('certDir', text),
      nodeName: use('nodeName', nodeName),
      endpoints: use('endpoints', texts),
      token: use('token', token),
      discoveryToken: use('discoveryToken', token),
      tlsBootstrapToken: use('tlsBootstrapToken', token),
      caCertHashes: use('caCertHashes', texts),
      unsafeSkipCAVerification: use('unsafeSkipCaVerification', flag),
      discoveryFile: use('discoveryFile', text),
      discoveryFileCA: use('discoveryFileCa', text),
      bootstrapKubeconfig: use('bootstrapKubeconfig', text),
      forKubelet: use('forKubelet', flag),
      dryRun: use('dryRun', flag),
      timeout: use('timeout', duration),
      skipPhases: use('skipPhases', texts),
      ignorePreflightErrors: use('ignoredChecks', texts),
    },
  },
}

const given = (values: Partial<Record<Target, unknown>>): JoinChoices =>
  Object.fromEntries(Object.entries(values).filter(([, value]) => value !== undefined))

export function parseJoinFile(content: string, source: string): JoinFile {
  const {values, warnings} = readDocuments(content, source, RULES)
  return {choices: given(values), warnings}
}

export async function readJoinFile(path: string): Promise<JoinFile> {
  const content = await readFileSafely(path, {followLinks: true})
  return parseJoinFile(content.toString(), path)
}
