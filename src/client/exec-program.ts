import {spawn} from 'node:child_process'
import {constants} from 'node:fs'
import {access, stat} from 'node:fs/promises'
import {delimiter, isAbsolute, join} from 'node:path'
import {isatty} from 'node:tty'
import {TrustError, messageOf} from '../errors.ts'
import type {ExecConfig} from './exec-config.ts'
import {printable} from './printable.ts'
import type {Environment} from './proxy-rules.ts'

export interface PluginOptions {
  environment?: Environment | undefined
  /** Whether a person can answer the program's questions. */
  isTerminal?: boolean | undefined
  /** Nobody sees what the program says on its standard error. */
  isSilent?: boolean | undefined
  /** Milliseconds. */
  longest?: number | undefined
  signal?: AbortSignal | undefined
}

/** Some programs open a browser and wait until a person has logged in. */
const LONGEST = 5 * 60_000
const STANDARD_INPUT = 0
const MOST_BYTES = 1024 * 1024

/** Runs the program of a kubeconfig as client-go does, and returns its output. Errors show neither its arguments nor its output. */
export async function runPlugin(config: ExecConfig, options: PluginOptions = {}): Promise<string> {
  const {environment = process.env, isSilent = false, longest = LONGEST, signal} = options
  const isTerminal = options.isTerminal ?? isatty(STANDARD_INPUT)
  const isInteractive = config.interactiveMode !== 'Never' && isTerminal
  if (config.interactiveMode === 'Always' && !isInteractive) {
    throw pluginFailed(config, 'asks questions, but the standard input is not a terminal', [
      'run the command in a terminal',
    ])
  }
  const program = await findProgram(config, environment)
  signal?.throwIfAborted()
  const child = spawn(program, [...config.args], {
    stdio: [isInteractive ? 'inherit' : 'ignore', 'pipe', isSilent ? 'ignore' : 'inherit'],
    env: {
      ...environment,
      ...config.env,
      KUBERNETES_EXEC_INFO: JSON.stringify(execInfo(config, isInteractive)),
    },
  })
  return await new Promise<string>((resolve, reject) => {
    const chunks: Buffer[] = []
    let size = 0
    const finish = (error?: Error) => {
      clearTimeout(timer)
      signal?.removeEventListener('abort', abort)
      child.kill('SIGKILL')
      // What the program has started may hold its output open.
      child.stdout.destroy()
      if (error) reject(error)
      else resolve(Buffer.concat(chunks).toString())
    }
    const fail = (problem: string, hints?: string[]) => finish(pluginFailed(config, problem, hints))
    const abort = () => finish(signal?.reason as Error)
    const timer = setTimeout(() => fail(`did not end within ${longest / 1000} s`), longest)
    signal?.addEventListener('abort', abort, {once: true})
    child.stdout.on('data', (chunk: Buffer) => {
      size += chunk.length
      if (size > MOST_BYTES) fail('printed more than 1 MiB')
      else chunks.push(chunk)
    })
    child.once('error', (error) => fail(`could not be run: ${messageOf(error)}`))
    child.once('close', (code, by) => {
      if (code === 0) finish()
      else fail(by === null ? `failed with exit code ${code ?? -1}` : `was ended by ${by}`)
    })
  })
}

/** What the program learns from KUBERNETES_EXEC_INFO. */
const execInfo = ({apiVersion, cluster}: ExecConfig, interactive: boolean): object => ({
  kind: 'ExecCredential',
  apiVersion,
  spec: {...(cluster && {cluster}), interactive},
})

/** Only in the absolute folders of PATH, as in Go: a program of the current folder is never meant. */
async function findProgram(config: ExecConfig, environment: Environment): Promise<string> {
  const {command, installHint} = config
  const folders = (environment.PATH ?? '').split(delimiter).filter((one) => isAbsolute(one))
  const candidates = command.includes('/') ? [command] : folders.map((one) => join(one, command))
  for (const candidate of candidates) if (await isProgram(candidate)) return candidate
  throw pluginFailed(config, 'is not installed', [
    ...(installHint ? [printable(installHint).trim()] : []),
    ...(command.includes('/') ? [] : ['if it is installed, add its folder to PATH']),
  ])
}

async function isProgram(path: string): Promise<boolean> {
  try {
    await access(path, constants.X_OK)
    return (await stat(path)).isFile()
  } catch {
    return false
  }
}

/** Names the program, and nothing that was given to it or that came from it. */
export function pluginFailed({command}: ExecConfig, problem: string, hints: string[] = []) {
  return new TrustError(
    'CREDENTIAL_PLUGIN_FAILED',
    `${printable(command)}, from which the kubeconfig gets its credentials, ${problem}`,
    {
      hints: hints.length > 0 ? hints : ['see its output, or log in with it and try again'],
      facts: {command},
    },
  )
}
