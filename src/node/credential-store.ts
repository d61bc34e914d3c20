import {randomBytes} from 'node:crypto'
import {readdir, readlink, rename, rm, symlink} from 'node:fs/promises'
import {basename, dirname, join, resolve} from 'node:path'
import {systemCode, TrustError} from '../errors.ts'
import {parseCertificate, type Certificate} from '../pki/certificate.ts'
import {lookAt, unreadable, unsafe, unwritable} from '../fs/file-checks.ts'
import {readFileIfThere, writeNewFile} from '../fs/files.ts'
import {ensureFolder, requireSafeFolder, syncFolder} from '../fs/folders.ts'
import {isMatching} from '../pki/pair-store.ts'
import {takeTemporary} from '../fs/temporary-names.ts'
import type {NodeRecord} from './node-files.ts'

/** A certificate and its key, as they are in use. */
export interface StoredCredential {
  certificatePem: string
  keyPem: string
  certificate: Certificate
  /** The file that the link points to. */
  file: string
}

const SECOND = 1000
const MODE = 0o600
const MOST_ATTEMPTS = 100
/** More than any pair takes, with what is noted of it. */
const ROOM = 32 * 1024
const MOST_LOOKED_AT = 100
const TIMED = /^-\d{4}(-\d\d){5}\.pem$/

/**
 * Stores a certificate and its key as the kubelet's certificate manager does: in one file, `<pair>-<time>.pem`, and a link
 * `<pair>-current.pem` that points to it. Unlike there, the link is replaced in one step, after everything is
 * on the disk, and files that someone else may have planted in the folder are refused.
 */
export class CredentialStore {
  readonly folder: string
  /** The link, which kubeconfigs refer to. */
  readonly current: string
  readonly record: NodeRecord | undefined
  readonly #pair: string

  /** Without a record, nothing is ever removed, and the folder keeps its mode: it is somebody else's. */
  constructor(
    folder: string,
    {pair = 'kubelet-client', record}: {pair?: string; record?: NodeRecord | undefined} = {},
  ) {
    this.folder = resolve(folder)
    this.record = record
    this.#pair = pair
    this.current = join(this.folder, `${pair}-current.pem`)
  }

  /** The pair in use; undefined if there is none yet. */
  async read(): Promise<StoredCredential | undefined> {
    const file = await this.#target()
    if (file === undefined) return undefined
    const found = await readPairFile(file)
    if (found === undefined) throw leadsNowhere(this.current, file)
    if (found === 'no pair') {
      throw new TrustError('PAIR_MISMATCH', `${file} does not contain a certificate and its key`, {
        hints: [`move it and ${this.current} away, and join again`],
      })
    }
    return found
  }

  /**
   * The pair to use while there is no link, as after a copy of the folder that left links out: the newest valid one of the folder, or else
   * the newest, whose key the cluster may know.
   */
  async findUnlinked(now: Date): Promise<StoredCredential | undefined> {
    if ((await this.#target()) !== undefined || !(await lookAt(this.folder))) return undefined
    const names = (await readdir(this.folder)).filter((name) => this.#isTimed(name))
    if (names.length === 0) return undefined
    await requireSafeFolder(this.folder)
    let best: StoredCredential | undefined
    for (const name of names.sort().slice(-MOST_LOOKED_AT)) {
      // Half a file is what a killed writer leaves, and what cannot be read safely is not ours: neither counts.
      const found = await readPairFile(join(this.folder, name)).catch(() => undefined)
      if (found && found !== 'no pair' && (!best || isBetter(found, best, now))) best = found
    }
    return best
  }

  /** Lets the link lead to a pair of the folder. */
  async link(file: string): Promise<void> {
    await this.#target()
    await this.#swap(file)
  }

  /** Stores a pair that is not to be used. Returns its file. */
  async keep(certificatePem: string, keyPem: string, now: Date): Promise<string> {
    await ensureFolder(this.folder, {repair: this.record !== undefined})
    return await this.#writeNew(certificatePem + keyPem, now)
  }

  /** Whether a certificate is in one of the files. */
  async holds(fingerprint: string): Promise<boolean> {
    const names = (await lookAt(this.folder)) ? await readdir(this.folder) : []
    for (const name of names.filter((one) => this.#isTimed(one))) {
      const found = await readPairFile(join(this.folder, name)).catch(() => undefined)
      if (found && found !== 'no pair' && found.certificate.fingerprint === fingerprint) return true
    }
    return false
  }

  /** The file that the link points to; undefined if there is no link. */
  async currentFile(): Promise<string | undefined> {
    return await this.#target()
  }

  /** Removes old pairs of ours that have expired, except the newest of them: it is the only one that anyone could want to return to. */
  async removeExpired(now: Date): Promise<void> {
    const current = await this.#target()
    const names = (await readdir(this.folder)).filter((name) => this.#isTimed(name)).sort()
    const old = names.map((name) => join(this.folder, name)).filter((file) => file !== current)
    for (const file of old.slice(0, -1)) {
      const text = (await readFileIfThere(file, {secret: true}))?.toString() ?? ''
      if (!hasExpired(text, now) || !(await this.record?.isMade(file))) continue
      await rm(file, {force: true})
      await this.record?.forget(file)
    }
  }

  #isTimed(name: string): boolean {
    return name.startsWith(`${this.#pair}-`) && TIMED.test(name.slice(this.#pair.length))
  }

  /**
   * Throws if a new pair could not be stored now. Checked before one is requested: what is issued and then lost would have to be requested again
   * and again, and the cluster would take a key for the node's that nobody has.
   */
  async requireRoom(): Promise<void> {
    await ensureFolder(this.folder, {repair: this.record !== undefined})
    await this.#target()
    const temporary = takeTemporary(this.folder, basename(this.current))
    try {
      // Random, so that no file system stores it in less.
      await writeNewFile(temporary.path, randomBytes(ROOM), MODE)
    } catch (error) {
      throw unwritable(this.current, error)
    } finally {
      await rm(temporary.path, {force: true}).catch(() => undefined)
      temporary.release()
    }
  }

  /** Switches to a new pair. The old one is used until the new one is safely on the disk. Returns its file. */
  async update(certificatePem: string, keyPem: string, now: Date): Promise<string> {
    if (!isMatching({certificatePem, keyPem})) {
      throw new TrustError('PAIR_MISMATCH', 'the certificate does not belong to the key')
    }
    await ensureFolder(this.folder, {repair: this.record !== undefined})
    await this.#target()
    const file = await this.#writeNew(certificatePem + keyPem, now)
    await this.#swap(file)
    return file
  }

  /** The target of the link: a file in the same folder, otherwise it is not ours. */
  async #target(): Promise<string | undefined> {
    const stats = await lookAt(this.current).catch((error: unknown) => {
      throw unreadable(this.current, error)
    })
    if (!stats) return undefined
    await requireSafeFolder(this.folder, {repair: true})
    if (!stats.isSymbolicLink()) {
      throw unsafe(this.current, 'it is not a symbolic link', 'move it away, and join again')
    }
    const target = resolve(this.folder, await readlink(this.current))
    const isOurs = dirname(target) === this.folder && basename(target).startsWith(`${this.#pair}-`)
    if (!isOurs || target === this.current) {
      throw unsafe(
        this.current,
        'it points outside of its folder',
        'find out where it came from, then remove it',
      )
    }
    return target
  }

  /** Never writes to an existing file: for a second one in the same second, uses the name of the next second. */
  async #writeNew(content: string, now: Date): Promise<string> {
    for (let attempt = 0; ; attempt += 1) {
      const time = stampOf(new Date(now.getTime() + attempt * SECOND))
      const file = join(this.folder, `${this.#pair}-${time}.pem`)
      // Looked at first: nothing is recorded of a pair that somebody else has written.
      if (attempt < MOST_ATTEMPTS && (await lookAt(file))) continue
      await this.record?.note([{path: file, data: content}])
      try {
        await writeNewFile(file, content, MODE)
        await syncFolder(this.folder)
        return file
      } catch (error) {
        if (systemCode(error) === 'EEXIST' && attempt < MOST_ATTEMPTS) continue
        // Half a file that nothing points to would be useless, and contain a key.
        if (systemCode(error) !== 'EEXIST') await rm(file, {force: true}).catch(() => undefined)
        throw unwritable(file, error)
      }
    }
  }

  async #swap(file: string): Promise<void> {
    const temporary = takeTemporary(this.folder, basename(this.current))
    try {
      await symlink(basename(file), temporary.path)
      await rename(temporary.path, this.current)
      await syncFolder(this.folder)
    } catch (error) {
      await rm(temporary.path, {force: true}).catch(() => undefined)
      throw unwritable(this.current, error)
    } finally {
      temporary.release()
    }
  }
}

async function readPairFile(file: string): Promise<StoredCredential | 'no pair' | undefined> {
  const text = (await readFileIfThere(file, {secret: true}))?.toString()
  if (text === undefined) return undefined
  if (!isMatching({certificatePem: text, keyPem: text})) return 'no pair'
  return {certificatePem: text, keyPem: text, certificate: parseCertificate(text), file}
}

function isBetter(one: StoredCredential, other: StoredCredential, now: Date): boolean {
  const isValid = ({certificate: {notBefore, notAfter}}: StoredCredential) =>
    notBefore <= now && notAfter > now
  if (isValid(one) !== isValid(other)) return isValid(one)
  return one.certificate.notBefore >= other.certificate.notBefore
}

/** False for what is not a certificate: nobody knows what it is for. */
function hasExpired(pem: string, now: Date): boolean {
  try {
    return parseCertificate(pem).notAfter <= now
  } catch {
    return false
  }
}

/** `2026-01-31-23-59-59`, in UTC. */
const stampOf = (date: Date): string => date.toISOString().slice(0, 19).replace(/[T:]/g, '-')

function leadsNowhere(link: string, file: string): TrustError {
  return new TrustError(
    'FILE_UNREADABLE',
    unreadable(link, new Error(`${basename(file)}, which it points to, does not exist`)).message,
    {hints: [`restore ${file}, or remove the link and join again`]},
  )
}
