import {rm} from 'node:fs/promises'
import {join, resolve} from 'node:path'
import {isDeepStrictEqual} from 'node:util'
import {TrustError} from '../../errors.ts'
import {lookAt} from '../../fs/file-checks.ts'
import {writeFileSafely} from '../../fs/files.ts'
import {syncFolder} from '../../fs/folders.ts'
import {removeSecret} from '../../fs/shred.ts'
import {ensureAuthority} from '../../pki/authority.ts'
import {parseBundle} from '../../pki/bundle.ts'
import type {KeyAlgorithm} from '../../pki/keys.ts'
import {createPair, readPair} from '../../pki/pair-store.ts'
import {pinOf} from '../../pki/pins.ts'
import type {Clock} from '../../runtime.ts'
import {readAuthorities} from '../../trust/read-trust.ts'
import {readCatalog} from '../certificates.ts'
import {addedAuthorities, specOf, type AddedAuthority} from '../config/added-authorities.ts'
import {certDirOf, type Plane} from '../config/plane.ts'
import {loadPlane, savePlane} from '../config/stored.ts'
import {exclusively, type Tell} from '../exclusive.ts'
import {notesMade} from '../../fs/made-files.ts'
import {reloadServer} from '../server-process.ts'
import {isRotating} from './advance.ts'
import {readJournal} from './journal.ts'

/** A CA of an operator. Without its key, it is one whose key is on another machine. */
interface BroughtAuthority {
  certificatePem: string
  keyPem?: string | undefined
}

export interface AddOptions {
  clock: Clock
  tell: Tell
  /** Instead of a new CA. */
  brought?: BroughtAuthority | undefined
  /** For a new CA; by default as the control plane is set up. */
  algorithm?: KeyAlgorithm | undefined
}

const taken = (message: string, ...hints: string[]): TrustError =>
  new TrustError('ALREADY_EXISTS', message, {hints})

/** A CA of the control plane would be trusted for more than its new name says, and rotate twice. */
async function requireForeign(plane: Plane, {certificatePem}: BroughtAuthority): Promise<void> {
  const pins = new Set(parseBundle(certificatePem).map(pinOf))
  const found = await readAuthorities(certDirOf(plane), await readCatalog(plane))
  for (const [id, {bundle}] of found) {
    if (bundle.some((one) => pins.has(pinOf(one))))
      throw taken(`this is the CA "${id}" already`, 'bring a CA with another key along')
  }
}

/** Writes the files of a CA that an operator brings along. The same content again changes nothing. */
async function bring(
  plane: Plane,
  {place}: ReturnType<typeof specOf>,
  {certificatePem, keyPem}: BroughtAuthority,
): Promise<void> {
  const certDir = certDirOf(plane)
  const crt = join(certDir, place.crt)
  const found = await readPair(certDir, place)
  if (found && !isDeepStrictEqual(found, {certificatePem, ...(keyPem && {keyPem})})) {
    throw taken(`there is another CA in ${crt}`, 'choose another name, or move its files away')
  }
  if (found) return
  const note = notesMade(plane)
  if (keyPem !== undefined) {
    await createPair(certDir, place, {certificatePem, keyPem}, note)
    return
  }
  await note([{path: crt, data: certificatePem}])
  await writeFileSafely(crt, certificatePem)
}

/** Adds a CA to the catalog of a control plane: its files first, then the configuration. Killed in between, it can be run again. */
export async function addAuthority(
  dir: string,
  wanted: AddedAuthority,
  {clock, tell, brought, algorithm}: AddOptions,
): Promise<void> {
  const plane = await exclusively(
    dir,
    async () => {
      const stored = await loadPlane(dir)
      const {settings} = stored
      if (settings.authorities.some(({name}) => name === wanted.name)) {
        throw taken(
          `there is already a CA "${wanted.name}"`,
          `see it with "trustadm ca show ${wanted.name}"; its settings are in config.yaml`,
        )
      }
      const authorities = addedAuthorities([...settings.authorities, wanted], 'authorities')
      const spec = specOf(wanted)
      if (brought) {
        await requireForeign(stored, brought)
        await bring(stored, spec, brought)
      } else {
        const {keyAlgorithm, caCertificateValidityPeriod: lifetime} = settings
        const how = {algorithm: algorithm ?? keyAlgorithm, lifetime, beforeWrite: notesMade(stored)}
        await ensureAuthority(certDirOf(stored), spec, how, clock)
      }
      await savePlane({...stored, settings: {...settings, authorities}})
      return stored
    },
    tell,
  )
  await reloadServer(plane)
}

/** Refuses to remove a CA that was not added, or that something here needs. */
export async function requireRemovable(plane: Plane, name: string): Promise<void> {
  if (plane.settings.authorities.every((one) => one.name !== name)) throw unknown(plane, name)
  const journal = await readJournal(plane)
  if (isRotating(journal) && journal.units.some(({id}) => id === name)) {
    throw new TrustError('CONFLICT', `the CA "${name}" is being rotated`, {
      hints: ['finish that first: see "trustadm ca rotate status"'],
    })
  }
  const {place} = specOf({name, signs: 'clients'})
  const files = [place.crt, place.key].map((file) => join(certDirOf(plane), file))
  const signer = plane.settings.signers.find(({certificate, key}) =>
    [certificate, key].some((path) => files.includes(resolve(plane.dir, path))),
  )
  if (!signer) return
  throw new TrustError('CONFLICT', `the signer ${signer.name} signs with the CA "${name}"`, {
    hints: ['remove it from "signers" in config.yaml first'],
  })
}

/** Removes an added CA: its key first, which is overwritten. Killed in between, it can be run again. */
export async function removeAuthority(dir: string, name: string, tell: Tell): Promise<string[]> {
  const removed: string[] = []
  const plane = await exclusively(
    dir,
    async () => {
      const stored = await loadPlane(dir)
      const {settings} = stored
      await requireRemovable(stored, name)
      const left = settings.authorities.filter((one) => one.name !== name)
      const certDir = certDirOf(stored)
      const {place} = specOf({name, signs: 'clients'})
      for (const file of [place.key, place.crt].map((one) => join(certDir, one))) {
        if (!(await lookAt(file))) continue
        if (file.endsWith('.key')) await removeSecret(file)
        else await rm(file, {force: true})
        removed.push(file)
      }
      await syncFolder(certDir)
      await savePlane({...stored, settings: {...settings, authorities: left}})
      return stored
    },
    tell,
  )
  await reloadServer(plane)
  return removed
}

function unknown({settings}: Plane, name: string): TrustError {
  const names = settings.authorities.map((one) => one.name)
  return new TrustError('NOT_FOUND', `no CA "${name}" was added`, {
    hints: [
      names.length === 0
        ? 'only CAs that were added with "ca add" can be removed, and there are none'
        : `the CAs that were added are ${names.join(', ')}`,
    ],
  })
}
