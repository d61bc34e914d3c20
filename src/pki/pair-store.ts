import {basename, dirname, join} from 'node:path'
import {sleep} from '../runtime.ts'
import type {PairPlace} from './catalog.ts'
import {parseCertificate, publicKeyOf} from './certificate.ts'
import {recoverFolder, createFiles, replaceFiles, type GroupFile} from '../fs/file-groups.ts'
import {readFileIfThere} from '../fs/files.ts'
import {ensureFolder} from '../fs/folders.ts'
import {isPairOf, parsePrivateKey} from './keys.ts'

/** A certificate and its key as they are kept, with the CA's certificates where the place holds these too. */
export interface LeafMaterial {
  certificatePem: string
  keyPem: string
  caPem?: string
}

/**
 * Where a leaf is kept. Pairs of files are kept here; kubeconfig files are written by a layer above, which gives a store
 * of its own. A write is all or nothing, through crashes too.
 */
export interface LeafStore {
  /** The path to show to people. */
  location: string
  /** All of its files. */
  files: readonly string[]
  /** What is there of it; undefined if nothing is. */
  read(): Promise<Partial<LeafMaterial> | undefined>
  write(material: Required<LeafMaterial>): Promise<void>
}

/** Hears of files before they are written, so that a crash leaves none that nobody has noted. */
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

/** False for what cannot be read too. */
export function isMatching({certificatePem, keyPem}: Partial<LeafMaterial>): boolean {
  if (certificatePem === undefined || keyPem === undefined) return false
  try {
    return isPairOf(parsePrivateKey(keyPem), publicKeyOf(parseCertificate(certificatePem)))
  } catch {
    return false
  }
}

/** What is there of the pair. Reads again where the halves do not match: a writer may be at work between the two reads. */
export async function readPair(
  certDir: string,
  place: PairPlace,
): Promise<Partial<LeafMaterial> | undefined> {
  for (let attempt = 1; ; attempt += 1) {
    const found = await readOnce(certDir, place)
    const isHalf = found?.certificatePem === undefined || found.keyPem === undefined
    if (isHalf || attempt === MOST_READS || isMatching(found)) return found
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

/** Makes the pair; answers false, and changes nothing, where a file of it is there already. */
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

/** Puts the pair in the place of the one that is there, both halves or none. */
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
