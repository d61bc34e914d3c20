import {X509Certificate, createPrivateKey} from 'node:crypto'
import {readFileSync, statSync} from 'node:fs'
import {buildConnector} from 'undici'
import {messageOf, TrustError} from '../../errors.ts'
import type {EtcdSettings} from './settings.ts'

type Files = Pick<EtcdSettings, 'caFile' | 'certFile' | 'keyFile'>

/** Opens connections with the CA, certificate and key that the files hold at that moment. */
export class EtcdConnector {
  readonly #files: Files
  readonly #timeout: number
  readonly #tell: (line: string) => void
  #connect: buildConnector.connector
  #seen: string

  constructor(files: Files, timeout: number, tell: (line: string) => void) {
    this.#files = files
    this.#timeout = timeout
    this.#tell = tell
    this.#seen = this.#stamp()
    this.#connect = this.#build()
  }

  readonly connect: buildConnector.connector = (options, callback) => {
    this.#reread()
    this.#connect(options, callback)
  }

  /** Files that are replaced one after the other do not match in between: the old ones are used until all fit. */
  #reread(): void {
    const stamp = this.#stamp()
    if (stamp === this.#seen) return
    try {
      this.#connect = this.#build()
      this.#seen = stamp
    } catch (error) {
      this.#tell(`error: the old certificates for etcd stay in use: ${messageOf(error)}`)
    }
  }

  #build(): buildConnector.connector {
    const ca = read(this.#files.caFile)
    const cert = read(this.#files.certFile)
    const key = read(this.#files.keyFile)
    requirePair(cert, key, this.#files)
    return buildConnector({
      timeout: this.#timeout,
      allowH2: false,
      ...(ca && {ca}),
      ...(cert && {cert}),
      ...(key && {key}),
    })
  }

  #stamp(): string {
    const {caFile, certFile, keyFile} = this.#files
    return [caFile, certFile, keyFile].map(stampOf).join(' ')
  }
}

function stampOf(path: string | undefined): string {
  if (path === undefined) return ''
  try {
    const {ino, mtimeMs, size} = statSync(path)
    return `${ino}-${mtimeMs}-${size}`
  } catch {
    return 'missing'
  }
}

const MOST_BYTES = 1024 * 1024

function read(path: string | undefined): Buffer | undefined {
  if (path === undefined) return undefined
  try {
    const {size} = statSync(path)
    if (size > MOST_BYTES) throw new Error(`it has more than ${MOST_BYTES} bytes`)
    return readFileSync(path)
  } catch (error) {
    throw new TrustError('FILE_UNREADABLE', `cannot read ${path}: ${messageOf(error)}`, {
      cause: error,
      hints: ['check --etcd-cafile, --etcd-certfile and --etcd-keyfile'],
    })
  }
}

/** OpenSSL would report a pair that does not match only at the first connection, and in its own words. */
function requirePair(cert: Buffer | undefined, key: Buffer | undefined, files: Files): void {
  if (cert === undefined && key === undefined) return
  if (cert === undefined || key === undefined)
    throw new TrustError('CONFIG_INVALID', '--etcd-certfile and --etcd-keyfile need each other')
  let matches: boolean
  try {
    matches = new X509Certificate(cert).checkPrivateKey(createPrivateKey(key))
  } catch (error) {
    throw new TrustError(
      'PEM_INVALID',
      `${files.certFile ?? ''} and ${files.keyFile ?? ''} are not a certificate and its key in PEM`,
      {cause: error, hints: ['check --etcd-certfile and --etcd-keyfile']},
    )
  }
  if (matches) return
  throw new TrustError(
    'PAIR_MISMATCH',
    `the key in ${files.keyFile ?? ''} does not belong to the certificate in ${files.certFile ?? ''}`,
    {hints: ['check --etcd-certfile and --etcd-keyfile']},
  )
}
