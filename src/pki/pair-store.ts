import {hash} from 'node:crypto'
import {basename, dirname, join} from 'node:path'
import {sleep} from '../runtime.ts'
import type {PairPlace} from './catalog.ts'
import {parseCertificate, publicKeyOf} from './certificate.ts'
import {recoverFolder, createFiles, replaceFiles, type GroupFile} from '../fs/file-groups.ts'
import {readFileIfThere} from '../fs/files.ts'
import {ensureFolder} from '../fs/folders.ts'
import {isPairOf, parsePrivateKey} from './keys.ts'

/** A stored certificate and its key, with the CA's certificates if they are stored there too. */
export interface LeafMaterial {
  certificatePem: string
  keyPem: string
  caPem?: string
}

/**
 * Where a leaf is stored. This file handles pairs of files; a layer above has its own store for kubeconfig files. A write is all
 * or nothing, even if the process crashes.
 */
export interface LeafStore {
  /** The path to show to people. */
  location: string
  /** All of its files. */
  files: readonly string[]
  /** What exists of it; undefined if nothing does. */
  read(): Promise<Partial<LeafMaterial> | undefined>
  write(material: Required<LeafMaterial>): Promise<void>
}

/** Called before files are written, so that all of them are recorded even after a crash. */
export type BeforeWrite = (files: readonly {path: string; data: string}[]) => Promise<void>

const MOST_READS = 10
const PAUSE = 5

/** The folder and the two names of a pair, which share one folder. */
function locate(certDir: string, {crt, key}: PairPlace) {
  const folder = join(certDir, dirname(crt))
  return {folder, crt: basename(crt), key: basename(key), group: basename(crt, '.crt')}
}

async function readOnce(
  certDir: string,
  place: PairPlace,
): Promise<Partial<LeafMaterial> | undefined> {
  const {folder, crt, key} = locate(certDir, place)
  await recoverFolder(folder)
  const certificatePem = (await readFileIfThere(join(folder, crt)))?.toString()
  const keyPem = (await readFileIfThere(join(folder, key), {secret: true}))?.toString()
  if (certificatePem === undefined && keyPem === undefined) return undefined
  return {
    ...(certificatePem !== undefined && {certificatePem}),
    ...(keyPem !== undefined && {keyPem}),
  }
}

const MOST_REMEMBERED = 64
/** By a digest, so that no key stays in memory for it. The start of a server looks at each pair several times. */
const compared = new Map<string, boolean>()

/** Also false for what cannot be read. */
export function isMatching({certificatePem, keyPem}: Partial<LeafMaterial>): boolean {
  if (certificatePem === undefined || keyPem === undefined) return false
  const pair = hash('sha256', JSON.stringify([certificatePem, keyPem]))
  const known = compared.get(pair)
  if (known !== undefined) return known
  const matches = compare(certificatePem, keyPem)
  if (compared.size >= MOST_REMEMBERED) compared.clear()
  compared.set(pair, matches)
  return matches
}

function compare(certificatePem: string, keyPem: string): boolean {
  try {
    return isPairOf(parsePrivateKey(keyPem), publicKeyOf(parseCertificate(certificatePem)))
  } catch {
    return false
  }
}

/** What exists of the pair. Reads again if the halves do not match: a writer may have changed them between the two reads. */
export async function readPair(
  certDir: string,
  place: PairPlace,
  matches: (found: Partial<LeafMaterial>) => boolean = isMatching,
): Promise<Partial<LeafMaterial> | undefined> {
  for (let attempt = 1; ; attempt += 1) {
    const found = await readOnce(certDir, place)
    const isHalf = found?.certificatePem === undefined || found.keyPem === undefined
    if (isHalf || attempt === MOST_READS || matches(found)) return found
    await sleep(PAUSE)
  }
}

function filesOf(certDir: string, place: PairPlace, {certificatePem, keyPem}: LeafMaterial) {
  const {folder, crt, key, group} = locate(certDir, place)
  const files: GroupFile[] = [
    {name: key, data: keyPem},
    {name: crt, data: certificatePem},
  ]
  return {folder, group, files}
}

/** Creates the pair; returns false, and changes nothing, if one of its files already exists. */
export async function createPair(
  certDir: string,
  place: PairPlace,
  material: LeafMaterial,
  beforeWrite?: BeforeWrite,
): Promise<boolean> {
  const {folder, group, files} = filesOf(certDir, place, material)
  await ensureFolder(folder)
  await beforeWrite?.(files.map(({name, data}) => ({path: join(folder, name), data})))
  return createFiles(folder, group, files)
}

/** Replaces the existing pair, both halves or none. */
export async function replacePair(
  certDir: string,
  place: PairPlace,
  material: LeafMaterial,
  beforeWrite?: BeforeWrite,
): Promise<void> {
  const {folder, group, files} = filesOf(certDir, place, material)
  await ensureFolder(folder)
  await beforeWrite?.(files.map(({name, data}) => ({path: join(folder, name), data})))
  await replaceFiles(folder, group, files)
}

export function pairStore(certDir: string, place: PairPlace, beforeWrite?: BeforeWrite): LeafStore {
  return {
    location: join(certDir, place.crt),
    files: [join(certDir, place.crt), join(certDir, place.key)],
    read: () => readPair(certDir, place),
    write: (material) => replacePair(certDir, place, material, beforeWrite),
  }
}
