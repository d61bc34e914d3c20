import {TrustError} from '../../errors.ts'
import {lookAt} from '../../fs/file-checks.ts'
import {parseCertificate} from '../../pki/certificate.ts'
import {readPair} from '../../pki/pair-store.ts'
import {CLUSTER_CA} from '../certificates.ts'
import {certDirOf, fileOf, rotationFolder, type Plane} from '../config/plane.ts'
import {describeHeld, describeKeys, readHeld, readHeldKeys, type Which} from './generations.ts'
import type {Generation, Journal} from './journal.ts'
import {selectUnits, unitFor, unitsOf, type Unit} from './units.ts'

export interface StartOptions {
  /** Only these CAs; empty: all. */
  only?: readonly string[]
  keyAlgorithm?: string | undefined
  /** The ids of the CAs that an operator brings along. */
  broughtIds?: readonly string[]
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
        ],
      },
    )
  }
}

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
  {only = [], keyAlgorithm, broughtIds = []}: StartOptions,
  now: Date,
): Promise<Journal> {
  await requireNoGenerations(plane)
  const units = selectUnits(await unitsOf(plane), only)
  const stray = broughtIds.find((id) => !units.some((unit) => unit.id === id))
  if (stray !== undefined) {
    throw new TrustError(
      'USAGE',
      `--new-ca names "${stray}", which is not among the CAs that rotate`,
      {
        hints: [`these rotate: ${units.map(({id}) => id).join(', ')}`],
      },
    )
  }
  await requireKeys(plane, units, broughtIds)
  const servers = units.find(({id}) => id === CLUSTER_CA)
  const current = servers && (await present(plane, servers))
  const isExpired = current !== undefined && current.certificate.notAfter <= now
  return {
    version: 1,
    action: 'start',
    phase: 'Prepare',
    lastInitiation: now.toISOString(),
    ...(before?.lastCompletion !== undefined && {lastCompletion: before.lastCompletion}),
    ...(keyAlgorithm !== undefined && {keyAlgorithm}),
    ...(isExpired && {isExpired}),
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
