import {clientCertificate} from './credentials.ts'
import type {ExecConfig} from './exec-config.ts'
import {pluginFailed} from './exec-program.ts'
import type {ClientCertificate} from './server-access.ts'

/** What a program returned: a token, a client certificate, or both. */
export interface PluginCredential {
  token?: string | undefined
  certificate?: ClientCertificate | undefined
  expires?: Date | undefined
}

type Fields = Record<string, unknown>

const TOKEN = /^[\x21-\x7e]+$/
const TIMESTAMP = /^\d{4}-\d\d-\d\d[Tt]\d\d:\d\d:\d\d(?:\.\d+)?(?:[Zz]|[+-]\d\d:\d\d)$/
const OTHER_PROGRAM = ['check that the kubeconfig names the right program and its arguments']

/** Reads the ExecCredential that a program printed. No error shows a part of it. */
export function parseCredential(text: string, config: ExecConfig): PluginCredential {
  const printed = parse(text)
  if (printed?.kind !== 'ExecCredential') {
    throw pluginFailed(config, 'did not print an ExecCredential', OTHER_PROGRAM)
  }
  if (printed.apiVersion !== config.apiVersion) {
    throw pluginFailed(
      config,
      `returned an ExecCredential of another version than ${config.apiVersion}`,
      ['set apiVersion of exec in the kubeconfig to the version that the program returns'],
    )
  }
  const status = isFields(printed.status) ? printed.status : {}
  const token = textOf(status, 'token')
  const certificate = certificateOf(status, config)
  if (token === undefined && !certificate) {
    throw pluginFailed(config, 'returned neither a token nor a client certificate')
  }
  if (token !== undefined && !TOKEN.test(token)) {
    throw pluginFailed(config, 'returned a token with invalid characters')
  }
  return {token, certificate, expires: expirationOf(status, config)}
}

function certificateOf(status: Fields, config: ExecConfig): ClientCertificate | undefined {
  const certificate = textOf(status, 'clientCertificateData')
  const key = textOf(status, 'clientKeyData')
  if (certificate === undefined && key === undefined) return undefined
  try {
    return clientCertificate(certificate, key)
  } catch {
    // That message is about a kubeconfig.
    throw pluginFailed(config, 'did not return a client certificate together with its key, as PEM')
  }
}

function expirationOf(status: Fields, config: ExecConfig): Date | undefined {
  const value = status.expirationTimestamp ?? undefined
  if (value === undefined) return undefined
  const date = typeof value === 'string' && TIMESTAMP.test(value) ? new Date(value) : undefined
  if (date && !Number.isNaN(date.getTime())) return date
  throw pluginFailed(config, 'returned an expirationTimestamp that is not a time')
}

function textOf(status: Fields, name: string): string | undefined {
  const value = status[name]
  return typeof value === 'string' && value !== '' ? value : undefined
}

function parse(text: string): Fields | undefined {
  try {
    const value: unknown = JSON.parse(text)
    return isFields(value) ? value : undefined
  } catch {
    return undefined
  }
}

function isFields(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
