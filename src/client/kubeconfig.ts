import {parseDocument, stringify} from 'yaml'
import {TrustError, type Hint} from '../errors.ts'
import {checkShape} from './kubeconfig-shape.ts'

/** A kubeconfig as it is in its file. Fields that are not listed here are kept. */
export interface Kubeconfig {
  apiVersion?: string
  kind?: string
  'current-context'?: string
  clusters: NamedCluster[]
  contexts: NamedContext[]
  users: NamedUser[]
  [field: string]: unknown
}

interface NamedCluster {
  name: string
  cluster: KubeconfigCluster
}

interface NamedContext {
  name: string
  context: KubeconfigContext
}

interface NamedUser {
  name: string
  user: KubeconfigUser
}

export interface KubeconfigCluster {
  server?: string
  'certificate-authority'?: string
  'certificate-authority-data'?: string
  'insecure-skip-tls-verify'?: boolean
  'tls-server-name'?: string
  'proxy-url'?: string
  [field: string]: unknown
}

interface KubeconfigContext {
  cluster: string
  user: string
  namespace?: string
  [field: string]: unknown
}

export interface KubeconfigUser {
  'client-certificate'?: string
  'client-certificate-data'?: string
  'client-key'?: string
  'client-key-data'?: string
  token?: string
  tokenFile?: string
  username?: string
  password?: string
  as?: string
  'as-uid'?: string
  'as-groups'?: string[]
  'as-user-extra'?: Record<string, string[]>
  exec?: unknown
  'auth-provider'?: unknown
  [field: string]: unknown
}

const LARGEST = 4 * 1024 * 1024

/** Reads a kubeconfig in YAML or JSON. No error ever quotes it: any line may be part of a key. */
export function parseKubeconfig(text: string, source = 'the kubeconfig'): Kubeconfig {
  if (text.length > LARGEST) throw kubeconfigInvalid(`${source} is larger than 4 MiB`)
  const document = parseDocument(text, {prettyErrors: false, uniqueKeys: true})
  const [problem] = document.errors
  if (problem) {
    const line = text.slice(0, problem.pos[0]).split('\n').length
    throw kubeconfigInvalid(`${source} is not valid YAML (line ${line}: ${problem.code})`)
  }
  return checkShape(toValue(document, source), source)
}

function toValue(document: ReturnType<typeof parseDocument>, source: string): unknown {
  try {
    return document.toJS({maxAliasCount: 50}) as unknown
  } catch {
    throw kubeconfigInvalid(`${source} uses more YAML aliases than a kubeconfig needs`)
  }
}

/** Writes it as YAML; long values stay on one line. */
export function formatKubeconfig(config: Kubeconfig): string {
  return stringify(config, {lineWidth: 0, aliasDuplicateObjects: false})
}

export function kubeconfigInvalid(message: string, ...hints: Hint[]): TrustError {
  return new TrustError('KUBECONFIG_INVALID', message, {
    hints: hints.length > 0 ? hints : ['get a new kubeconfig from the control plane'],
  })
}
