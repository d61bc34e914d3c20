import {parseAllDocuments} from 'yaml'
import {TrustError} from '../../errors.ts'
import {address, duration, keyAlgorithm, port, subnet, text, texts, type Read} from './fields.ts'
import type {Choices} from './settings.ts'

/** What a configuration file says. */
export interface FileChoices {
  choices: Choices
  dir?: string
  skipPhases?: string[]
  generatedAuthorities?: string[]
  /** What in the file has no effect here. */
  warnings: string[]
}

type Target = keyof Choices | 'dir' | 'skipPhases' | 'generatedAuthorities'

/** A field that is used, one that Kubernetes knows and that has no meaning here, or one with fields inside. */
type Field = {to: Target; read: Read<unknown>} | 'unused' | {[name: string]: Field}

const use = (to: Target, read: Read<unknown>): Field => ({to, read})
const unused = (...names: string[]): Record<string, Field> =>
  Object.fromEntries(names.map((name) => [name, 'unused']))

const KUBEADM = 'kubeadm.k8s.io/v1beta4'
export const OURS = {apiVersion: 'trustadm.io/v1alpha1', kind: 'TrustadmConfiguration'} as const

const KINDS: Record<string, Record<string, Field>> = {
  [`${KUBEADM} InitConfiguration`]: {
    localAPIEndpoint: {
      advertiseAddress: use('advertiseAddress', address),
      bindPort: use('bindPort', port),
    },
    nodeRegistration: {
      name: use('nodeName', text),
      ...unused('criSocket', 'taints', 'kubeletExtraArgs', 'ignorePreflightErrors'),
      ...unused('imagePullPolicy', 'imagePullSerial'),
    },
    skipPhases: use('skipPhases', texts),
    ...unused('bootstrapTokens', 'certificateKey', 'dryRun', 'patches', 'timeouts'),
  },
  [`${KUBEADM} ClusterConfiguration`]: {
    apiServer: {
      certSANs: use('certSANs', texts),
      ...unused('extraArgs', 'extraVolumes', 'extraEnvs'),
    },
    networking: {
      serviceSubnet: use('serviceSubnet', subnet),
      dnsDomain: use('dnsDomain', text),
      ...unused('podSubnet'),
    },
    controlPlaneEndpoint: use('controlPlaneEndpoint', text),
    certificatesDir: use('certificatesDir', text),
    clusterName: use('clusterName', text),
    encryptionAlgorithm: use('keyAlgorithm', keyAlgorithm),
    certificateValidityPeriod: use('certificateValidityPeriod', duration),
    caCertificateValidityPeriod: use('caCertificateValidityPeriod', duration),
    ...unused('kubernetesVersion', 'etcd', 'controllerManager', 'scheduler', 'dns', 'proxy'),
    ...unused('imageRepository', 'featureGates'),
  },
  [`${OURS.apiVersion} ${OURS.kind}`]: {
    dir: use('dir', text),
    advertiseAddress: use('advertiseAddress', address),
    bindAddress: use('bindAddress', address),
    bindPort: use('bindPort', port),
    nodeName: use('nodeName', text),
    certSANs: use('certSANs', texts),
    controlPlaneEndpoint: use('controlPlaneEndpoint', text),
    certificatesDir: use('certificatesDir', text),
    clusterName: use('clusterName', text),
    serviceSubnet: use('serviceSubnet', subnet),
    dnsDomain: use('dnsDomain', text),
    keyAlgorithm: use('keyAlgorithm', keyAlgorithm),
    certificateValidityPeriod: use('certificateValidityPeriod', duration),
    caCertificateValidityPeriod: use('caCertificateValidityPeriod', duration),
    generatedAuthorities: use('generatedAuthorities', texts),
  },
}

/** No warning: every cluster has these, and what is said is true here too or of no consequence. */
const SILENTLY_ACCEPTED = ['kubernetesVersion']

const isMap = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
const isUse = (field: Field): field is {to: Target; read: Read<unknown>} =>
  typeof field === 'object' && typeof field.read === 'function'

class Reader {
  readonly values: Partial<Record<Target, unknown>> = {}
  readonly warnings: string[] = []

  document(document: unknown, source: string): void {
    if (document === null || document === undefined) return
    if (!isMap(document)) throw invalid(`${source} holds something that is not a map`)
    const {apiVersion, kind, ...rest} = document
    if (typeof apiVersion !== 'string' || typeof kind !== 'string') {
      throw invalid(`${source} holds a document without apiVersion and kind`)
    }
    const fields = KINDS[`${apiVersion} ${kind}`]
    if (fields) return this.#fields(rest, fields, kind)
    if (apiVersion.startsWith('kubeadm.k8s.io/') && apiVersion !== KUBEADM) {
      throw invalid(`${kind} is of ${apiVersion}, which is not read here`, [
        `bring it to ${KUBEADM} with "kubeadm config migrate"`,
      ])
    }
    this.warnings.push(`${kind} of ${apiVersion} has no effect here`)
  }

  #fields(values: Record<string, unknown>, fields: Record<string, Field>, path: string): void {
    for (const [name, value] of Object.entries(values)) {
      const field = Object.hasOwn(fields, name) ? fields[name] : undefined
      const full = `${path}.${name}`
      if (field === undefined) {
        throw invalid(`there is no field ${full}`, [
          `${path} has ${Object.keys(fields).join(', ')}`,
        ])
      }
      if (value === null || value === undefined) continue
      if (field === 'unused') {
        if (!SILENTLY_ACCEPTED.includes(name)) this.warnings.push(`${full} has no effect here`)
      } else if (isUse(field)) this.values[field.to] = field.read(value, full)
      else if (isMap(value)) this.#fields(value, field, full)
      else throw invalid(`${full} is not a map`)
    }
  }
}

function invalid(message: string, hints: string[] = []): TrustError {
  return new TrustError('CONFIG_INVALID', message, {hints})
}

/** Reads kubeadm's documents and ours. A field that nobody knows is refused, for it is a mistake; one without effect is named. */
export function parseConfigFile(content: string, source: string): FileChoices {
  const documents = parseAllDocuments(content, {prettyErrors: false})
  const reader = new Reader()
  for (const document of 'empty' in documents ? [] : documents) {
    const [problem] = document.errors
    if (problem) {
      const line = content.slice(0, problem.pos[0]).split('\n').length
      throw invalid(`${source} is not valid YAML (line ${line}: ${problem.code})`)
    }
    reader.document(document.toJS({maxAliasCount: 50}), source)
  }
  const {dir, skipPhases, generatedAuthorities, ...choices} = reader.values
  return {
    choices: choices as Choices,
    ...(dir === undefined ? {} : {dir: dir as string}),
    ...(skipPhases === undefined ? {} : {skipPhases: skipPhases as string[]}),
    ...(generatedAuthorities === undefined
      ? {}
      : {generatedAuthorities: generatedAuthorities as string[]}),
    warnings: reader.warnings,
  }
}
