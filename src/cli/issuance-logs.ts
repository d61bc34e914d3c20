import {basename, dirname, join} from 'node:path'
import {FILES, fileOf} from '../control-plane/config/plane.ts'
import {loadPlane} from '../control-plane/config/stored.ts'
import type {LogToVerify} from '../control-plane/issuances.ts'
import {parseHead} from '../csr/log-head.ts'
import {TrustError} from '../errors.ts'
import {lookAt} from '../fs/file-checks.ts'
import {requireHash} from './flag-value.ts'
import {dirOf} from './folders.ts'

interface Choices {
  /** As arguments. */
  files: readonly string[]
  file?: string | undefined
  dir?: string | undefined
  key?: string | undefined
}

/** The logs that a command line names: by default that of the control plane on this machine. */
export async function findLogs({files, file, dir, key}: Choices): Promise<LogToVerify[]> {
  const named = file === undefined ? files : [file, ...files]
  if (key !== undefined && named.length > 1) {
    throw new TrustError('USAGE', '--key is for one log', {
      hints: ['put the key of each log beside it: the name of the log with ".key" added'],
    })
  }
  if (named.length === 0) {
    const folder = dirOf(dir)
    const keyFile = key ?? fileOf({dir: folder}, 'issuanceKey')
    return [{file: await ownLog(folder), keyFile, requiresKey: true}]
  }
  return await Promise.all(
    named.map(async (one) => {
      if (!(await lookAt(one))) throw noLog(one)
      return {file: one, keyFile: key ?? (await keyOf(one)), requiresKey: key !== undefined}
    }),
  )
}

const noLog = (file: string): TrustError =>
  new TrustError('FILE_UNREADABLE', `cannot read ${file}: there is no such file`, {
    hints: ['check the path; without one, the log of the control plane on this machine is read'],
  })

/** Beside the log or, if that is in the folder of a control plane, where its server keeps the key. */
async function keyOf(file: string): Promise<string> {
  const beside = `${file}.key`
  const folder = join(dirname(file), '..')
  const isOfPlane = join(basename(dirname(file)), basename(file)) === FILES.issuances
  const ofPlane = fileOf({dir: folder}, 'issuanceKey')
  if (!isOfPlane || (await lookAt(beside)) || !(await lookAt(ofPlane))) return beside
  return ofPlane
}

/** The log of the control plane in a folder; throws if there is none. */
async function ownLog(dir: string): Promise<string> {
  const log = fileOf({dir}, 'issuances')
  if (await lookAt(log)) return log
  await loadPlane(dir)
  throw new TrustError('NOT_FOUND', `the control plane in ${dir} has no issuance log yet`, {
    hints: ['start its server with "trustadm start"'],
  })
}

/** The hash of a line: given as such, as --heads prints it, or as the head that a node has kept. */
export const hashOfHead = (value: string): string =>
  parseHead(value.trim())?.hash ?? requireHash('head', value)
