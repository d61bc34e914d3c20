import {dirname, isAbsolute, resolve} from 'node:path'
import {kubeconfigInvalid, type KubeconfigCluster} from './kubeconfig.ts'

/** How a kubeconfig gets its credentials from a program: the `exec` of a user, and what the program may know of the cluster. */
export interface ExecConfig {
  apiVersion: ExecVersion
  command: string
  args: readonly string[]
  env: Readonly<Record<string, string>>
  installHint?: string | undefined
  interactiveMode: InteractiveMode
  /** Only with `provideClusterInfo`. */
  cluster?: object | undefined
}

type ExecVersion = (typeof VERSIONS)[number]
type InteractiveMode = (typeof MODES)[number]
type Fields = Record<string, unknown>

const VERSIONS = [
  'client.authentication.k8s.io/v1',
  'client.authentication.k8s.io/v1beta1',
] as const
const MODES = ['Never', 'IfAvailable', 'Always'] as const
/** The name of the extension of a cluster that is handed to the program. */
const EXTENSION = 'client.authentication.k8s.io/exec'

/** Checks the settings of `exec`. Errors never show a value: arguments and variables may be secrets. */
export function readExecConfig(
  value: unknown,
  cluster: KubeconfigCluster,
  ca: string | undefined,
): ExecConfig {
  const fields = fieldsOf(value)
  const command = textOf(fields, 'command')
  if (!command) throw wrong('has no command')
  const apiVersion = VERSIONS.find((one) => one === fields.apiVersion)
  if (!apiVersion) throw wrong(`has an apiVersion other than ${VERSIONS.join(' and ')}`)
  const providesCluster = fields.provideClusterInfo ?? false
  if (typeof providesCluster !== 'boolean') throw wrong('has a provideClusterInfo of another type')
  return {
    apiVersion,
    command,
    args: argsOf(fields.args),
    env: envOf(fields.env),
    installHint: textOf(fields, 'installHint'),
    interactiveMode: modeOf(textOf(fields, 'interactiveMode'), apiVersion),
    cluster: providesCluster ? clusterInfoOf(cluster, ca) : undefined,
  }
}

/** A command with a path that is not absolute is relative to the folder of its kubeconfig; a plain name is searched for in PATH. */
export function anchorCommand(exec: unknown, kubeconfig: string): unknown {
  if (!isFields(exec) || typeof exec.command !== 'string') return exec
  const {command} = exec
  if (!command.includes('/') || isAbsolute(command)) return exec
  return {...exec, command: resolve(dirname(resolve(kubeconfig)), command)}
}

function modeOf(text: string | undefined, apiVersion: ExecVersion): InteractiveMode {
  // v1beta1 is older than this setting.
  if (!text && apiVersion === 'client.authentication.k8s.io/v1beta1') return 'IfAvailable'
  const mode = MODES.find((one) => one === text)
  if (mode) return mode
  throw wrong(`has an interactiveMode other than ${MODES.join(', ')}`)
}

function argsOf(value: unknown): string[] {
  const args: unknown = value ?? []
  if (!Array.isArray(args) || !args.every((one) => typeof one === 'string' && isWhole(one))) {
    throw wrong('has args that are not a list of strings')
  }
  return args as string[]
}

function envOf(value: unknown): Record<string, string> {
  const list: unknown = value ?? []
  if (!Array.isArray(list)) throw wrong('has an env that is not a list')
  const pairs = list.map((entry: unknown) => {
    const {name, value: text = ''} = isFields(entry) ? entry : {}
    if (typeof name !== 'string' || typeof text !== 'string' || !/^[^=\0]+$/.test(name)) {
      throw wrong('has an env with an entry that is not a name and a value')
    }
    if (!isWhole(text)) throw wrong('has an env with an entry that is not a name and a value')
    return [name, text] as const
  })
  return Object.fromEntries(pairs)
}

/** What a kubeconfig says of the cluster, with the CA as data, as `spec.cluster` of an ExecCredential has it. */
function clusterInfoOf(cluster: KubeconfigCluster, ca: string | undefined): object {
  const extensions: unknown[] = Array.isArray(cluster.extensions) ? cluster.extensions : []
  const own = extensions.find((one) => isFields(one) && one.name === EXTENSION) as
    Fields | undefined
  const {'tls-server-name': serverName, 'proxy-url': proxy} = cluster
  return {
    server: cluster.server ?? '',
    ...(serverName && {'tls-server-name': serverName}),
    ...(cluster['insecure-skip-tls-verify'] && {'insecure-skip-tls-verify': true}),
    ...(ca !== undefined && {'certificate-authority-data': Buffer.from(ca).toString('base64')}),
    ...(proxy && {'proxy-url': proxy}),
    ...(cluster['disable-compression'] === true && {'disable-compression': true}),
    ...(own?.extension != null && {config: own.extension}),
  }
}

function textOf(fields: Fields, name: string): string | undefined {
  const value = fields[name] ?? undefined
  if (value === undefined) return undefined
  if (typeof value !== 'string' || !isWhole(value))
    throw wrong(`has a ${name} that is not a string`)
  return value
}

/** A NUL ends a word of a command line. */
const isWhole = (text: string): boolean => !text.includes('\0')

function fieldsOf(value: unknown): Fields {
  if (isFields(value)) return value
  throw wrong('is not a map')
}

function isFields(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

function wrong(problem: string) {
  return kubeconfigInvalid(
    `exec of the user in the kubeconfig ${problem}`,
    'get a new kubeconfig from the provider of the cluster',
  )
}
