import {TrustError} from '../../errors.ts'
import {lookAt} from '../../fs/file-checks.ts'
import {parseCertificate} from '../../pki/certificate.ts'
import {readPair} from '../../pki/pair-store.ts'
import {pinOf} from '../../pki/pins.ts'
import {CLIENT_CA, CLUSTER_CA} from '../certificates.ts'
import {certDirOf, fileOf, rotationFolder, type Plane} from '../config/plane.ts'
import {type BroughtAuthorities, describeBrought, requireSound} from './brought.ts'
import {describeHeld, describeKeys, readHeld, readHeldKeys, type Which} from './generations.ts'
import type {Generation, Journal} from './journal.ts'
import {selectUnits, unitFor, unitsOf, type Unit} from './units.ts'

export interface StartOptions {
  /** Only these CAs; empty: all. */
  only?: readonly string[]
  keyAlgorithm?: string | undefined
  brought?: BroughtAuthorities | undefined
}

/** Refuses CAs that nothing here would use, those that are in use already, and those with which a rotation could not be finished. */
async function requireWanted(
  plane: Plane,
  units: readonly Unit[],
  brought: BroughtAuthorities,
  now: Date,
): Promise<void> {
  const ids = units.filter(({spec}) => spec).map(({id}) => id)
  const unknown = [...brought.keys()].filter((id) => !ids.includes(id))
  if (unknown.length > 0) {
    throw new TrustError('USAGE', `--new-ca: this rotation has no CA "${unknown.join('", "')}"`, {
      hints: [`the CAs that it rotates are ${ids.join(', ')}`],
    })
  }
  for (const unit of units) {
    const given = brought.get(unit.id)
    if (!given) continue
    const found = await present(plane, unit)
    if (found && pinOf(found.certificate) === pinOf(parseCertificate(given.certificatePem))) {
      throw new TrustError('USAGE', `--new-ca ${unit.id}: this CA is in use already`, {
        hints: ['bring a CA with another key along'],
      })
    }
    await requireSound(unit, given, now)
  }
}

/** What a CA has now; undefined for keys, and for a CA that does not exist yet. */
async function present(plane: Plane, {spec, separatedFrom}: Unit) {
  if (!spec || separatedFrom !== undefined) return undefined
  const found = await readPair(certDirOf(plane), spec.place)
  if (found?.certificatePem === undefined) return undefined
  return {certificate: parseCertificate(found.certificatePem), hasKey: found.keyPem !== undefined}
}

/** A CA whose key is elsewhere cannot be replaced by one that we make up: its owner brings the next one along. */
async function requireKeys(
  plane: Plane,
  units: readonly Unit[],
  brought: readonly string[],
): Promise<void> {
  for (const unit of units) {
    const found = await present(plane, unit)
    if (!found || found.hasKey || brought.includes(unit.id)) continue
    throw new TrustError(
      'SIGNER_KEY_MISSING',
      `the key of the CA "${unit.id}" is not on this machine: its owner has to create the next CA`,
      {
        hints: [
          `bring the next CA along with --new-ca ${unit.id}=<certificate file>,<key file>`,
          'or leave it out: name the other CAs with --only',
          KEY_IN_FILE,
        ],
      },
    )
  }
}

/** For a CA whose key cannot be handed over. */
export const KEY_IN_FILE =
  'the key of the next CA has to be in a file on this machine: a signing service, or a key in a PKCS#11 token, is not supported yet'

/** What lies there would be taken for the CAs of this rotation. */
async function requireNoGenerations(plane: Plane): Promise<void> {
  const folder = rotationFolder(plane)
  if (!(await lookAt(folder))) return
  throw new TrustError(
    'CONFLICT',
    `${folder} has the CAs of a rotation, but ${fileOf(plane, 'rotation')} knows of none that is in progress`,
    {
      hints: [
        'if a rotation was in progress, restore its journal from a backup',
        'if not, move the folder away; it has keys of CAs, so keep it as safe as they are',
      ],
    },
  )
}

/** The journal of a rotation that begins. Nothing is written yet, and nothing is created. */
export async function newJournal(
  plane: Plane,
  before: Journal | undefined,
  {only = [], keyAlgorithm, brought = new Map()}: StartOptions,
  now: Date,
): Promise<Journal> {
  await requireNoGenerations(plane)
  const all = await unitsOf(plane)
  const units = selectUnits(all, only)
  await requireWanted(plane, units, brought, now)
  await requireKeys(plane, units, [...brought.keys()])
  const hasExpired = async (id: string) => {
    const unit = units.find((one) => one.id === id)
    const found = unit && (await present(plane, unit))
    return found !== undefined && found.certificate.notAfter <= now
  }
  const [isExpired, areClientsExpired] = await Promise.all([CLUSTER_CA, CLIENT_CA].map(hasExpired))
  return {
    version: 1,
    action: 'start',
    phase: 'Prepare',
    lastInitiation: now.toISOString(),
    ...(before?.lastCompletion !== undefined && {lastCompletion: before.lastCompletion}),
    ...(before?.lastAbort !== undefined && {lastAbort: before.lastAbort}),
    ...(units.length < all.length && {isPartial: true}),
    ...(before?.generations && {generations: before.generations}),
    ...(before?.shared !== undefined && {shared: before.shared}),
    ...(only.length > 0 && {only: [...only]}),
    ...(keyAlgorithm !== undefined && {keyAlgorithm}),
    ...(brought.size > 0 && {brought: describeBrought(brought)}),
    ...(isExpired && {isExpired}),
    ...(areClientsExpired && {areClientsExpired}),
    // What the generations are is filled in once they exist.
    units: units.map(({id, separatedFrom}) => ({
      id,
      ...(separatedFrom !== undefined && {separatedFrom}),
      old: {pin: ''},
      new: {pin: ''},
    })),
    done: [],
    overrides: [],
  }
}

async function describe(plane: Plane, unit: Unit, which: Which): Promise<Generation> {
  const keys = unit.spec ? undefined : await readHeldKeys(plane, which)
  if (keys) return describeKeys(keys)
  const held = await readHeld(plane, unit, which)
  return held ? describeHeld(held) : {pin: ''}
}

/** The journal with what the generations are, once they exist. */
export async function withGenerations(plane: Plane, journal: Journal): Promise<Journal> {
  const units = await Promise.all(
    journal.units.map(async (record) => {
      const unit = unitFor(plane, record)
      const [old, next] = [await describe(plane, unit, 'old'), await describe(plane, unit, 'new')]
      return {...record, old, new: next}
    }),
  )
  return {...journal, units}
}
