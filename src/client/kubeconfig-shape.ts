import {TrustError} from '../errors.ts'
import type {Kubeconfig} from './kubeconfig.ts'

type Fields = Record<string, unknown>
type Check = (value: unknown) => boolean

const isText: Check = (value) => typeof value === 'string'
const isFlag: Check = (value) => typeof value === 'boolean'
const isTexts: Check = (value) => Array.isArray(value) && value.every(isText)
const isTextLists: Check = (value) => isFields(value) && Object.values(value).every(isTexts)

const CLUSTER: Record<string, Check> = {
  server: isText,
  'certificate-authority': isText,
  'certificate-authority-data': isText,
  'insecure-skip-tls-verify': isFlag,
  'tls-server-name': isText,
  'proxy-url': isText,
}

const CONTEXT: Record<string, Check> = {cluster: isText, user: isText, namespace: isText}

const USER: Record<string, Check> = {
  'client-certificate': isText,
  'client-certificate-data': isText,
  'client-key': isText,
  'client-key-data': isText,
  token: isText,
  tokenFile: isText,
  username: isText,
  password: isText,
  as: isText,
  'as-uid': isText,
  'as-groups': isTexts,
  'as-user-extra': isTextLists,
}

/** Checks the fields that are used. Errors name the field, and never show its value. */
export function checkShape(value: unknown, source: string): Kubeconfig {
  const config = value ?? {}
  if (!isFields(config)) throw invalid(source, 'it is not a map')
  if ((config.kind ?? 'Config') !== 'Config' || (config.apiVersion ?? 'v1') !== 'v1') {
    throw invalid(source, 'its kind is not Config of v1')
  }
  const current = config['current-context'] ?? ''
  if (typeof current !== 'string') throw invalid(source, 'current-context is not a string')
  const checked: Fields = {
    ...config,
    'current-context': current,
    clusters: named(config, 'clusters', 'cluster', CLUSTER, source),
    contexts: named(config, 'contexts', 'context', CONTEXT, source),
    users: named(config, 'users', 'user', USER, source),
  }
  return checked as Kubeconfig
}

/** A list of `{name, <field>: {…}}`; null means an empty one, as client-go writes it. */
function named(
  config: Fields,
  list: string,
  field: string,
  checks: Record<string, Check>,
  source: string,
): Fields[] {
  const entries = config[list] ?? []
  if (!Array.isArray(entries)) throw invalid(source, `${list} is not a list`)
  const seen = new Set<unknown>()
  return entries.map((entry: unknown, index) => {
    const where = `${list}[${index}]`
    if (!isFields(entry)) throw invalid(source, `${where} is not a map`)
    const name = entry.name ?? ''
    const inner = entry[field] ?? {}
    if (!isText(name)) throw invalid(source, `${where}.name is not a string`)
    if (seen.has(name)) throw invalid(source, `${where} has the name of an earlier one`)
    if (!isFields(inner)) throw invalid(source, `${where}.${field} is not a map`)
    seen.add(name)
    const fields = withoutNulls(inner)
    for (const [key, check] of Object.entries(checks)) {
      if (key in fields && !check(fields[key])) {
        throw invalid(source, `${where}.${field}.${key} has the wrong type`)
      }
    }
    return {...entry, name, [field]: fields}
  })
}

function withoutNulls(fields: Fields): Fields {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value != null))
}

function isFields(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

function invalid(source: string, problem: string): TrustError {
  return new TrustError('KUBECONFIG_INVALID', `${source} is not a kubeconfig: ${problem}`, {
    hints: ['get a new kubeconfig from the control plane'],
  })
}
