import {join} from 'node:path'
import {createHash} from 'node:crypto'
import {lookAt} from '../../fs/file-checks.ts'
import {readFileIfThere, writeFileSafely} from '../../fs/files.ts'
import {ensureFolder} from '../../fs/folders.ts'
import {encodeBundle, parseBundle} from '../../pki/bundle.ts'
import {parseCertificate, type Certificate} from '../../pki/certificate.ts'
import {createAuthorityCertificate} from '../../pki/create.ts'
import {formatName} from '../../pki/distinguished-name.ts'
import {authorityKeyIdOf, createIssuer, crossSign, type Issuer} from '../../pki/issuer.ts'
import {
  generateKeys,
  parsePrivateKey,
  parsePublicKeys,
  privateKeyPem,
  publicHalf,
  publicKeyDer,
  publicKeyPem,
  type KeyAlgorithm,
} from '../../pki/keys.ts'
import {AUTHORITY_LIFETIME, authorityValidity} from '../../pki/lifetimes.ts'
import {createPair, readPair, type BeforeWrite} from '../../pki/pair-store.ts'
import {pinOf} from '../../pki/pins.ts'
import {SERVICE_ACCOUNT_KEYS, type PairPlace} from '../../pki/catalog.ts'
import {certDirOf, rotationFolder, type Plane} from '../config/plane.ts'
import {isAsMade, notesMade, readMadeFiles} from '../../fs/made-files.ts'
import type {BroughtAuthority} from './brought.ts'
import type {Generation} from './journal.ts'
import type {Unit} from './units.ts'

export type Which = 'old' | 'new'

const folderOf = (plane: Plane, which: Which): string => join(rotationFolder(plane), which)

const placeOf = ({id}: Unit): PairPlace => ({kind: 'pair', crt: `${id}.crt`, key: `${id}.key`})

/** A CA of one generation; without its key if that is on another machine. */
export interface HeldAuthority {
  /** What signs. */
  certificate: Certificate
  /** Everything in its file, which is all trusted: the one that signs first. */
  bundle: readonly Certificate[]
  keyPem?: string
}

/** Reads one generation of a CA. What a separated CA did before is the work of the CA that it was separated from. */
export async function readHeld(
  plane: Plane,
  unit: Unit,
  which: Which,
): Promise<HeldAuthority | undefined> {
  const from =
    which === 'old' && unit.separatedFrom !== undefined ? {...unit, id: unit.separatedFrom} : unit
  const found = await readPair(folderOf(plane, which), placeOf(from))
  if (found?.certificatePem === undefined) return undefined
  return {
    certificate: parseCertificate(found.certificatePem),
    bundle: parseBundle(found.certificatePem),
    ...(found.keyPem !== undefined && {keyPem: found.keyPem}),
  }
}

const describe = (certificate: Certificate): Generation => ({
  pin: pinOf(certificate),
  keyId: authorityKeyIdOf(certificate),
  subject: formatName(certificate.subject),
  notBefore: certificate.notBefore.toISOString(),
  notAfter: certificate.notAfter.toISOString(),
  fingerprint: certificate.fingerprint,
})

export function describeHeld({certificate, bundle}: HeldAuthority): Generation {
  const [, ...others] = bundle
  return {...describe(certificate), ...(others.length > 0 && {others: others.map(describe)})}
}

/** Copies what signs and is trusted now aside, where it stays until the rotation is over. */
export async function keepOld(plane: Plane, unit: Unit): Promise<void> {
  if (!unit.spec || unit.separatedFrom !== undefined) return
  const folder = folderOf(plane, 'old')
  await ensureFolder(folder)
  if (await readPair(folder, placeOf(unit))) return
  const found = await readPair(certDirOf(plane), unit.spec.place)
  if (found?.certificatePem === undefined) return
  const certificates = encodeBundle(parseBundle(found.certificatePem))
  const {keyPem} = found
  const note = await notesOurs(plane, unit.id, [unit.spec.place.crt, unit.spec.place.key])
  if (keyPem === undefined) await writeFileSafely(join(folder, placeOf(unit).crt), certificates)
  else await createPair(folder, placeOf(unit), {certificatePem: certificates, keyPem}, note)
}

/** Records copies as created by trustadm if what they are copies of is. What an operator has provided, `reset` never removes. */
export async function notesOurs(
  plane: Plane,
  id: string,
  names: readonly string[],
): Promise<BeforeWrite | undefined> {
  const made = await readMadeFiles(plane)
  const states = await Promise.all(
    names.map((name) => isAsMade(plane, made, join(certDirOf(plane), name))),
  )
  const isOurs = states.every((state) => state ?? plane.generatedAuthorities.includes(id))
  return isOurs ? notesMade(plane) : undefined
}

/** Whether an operator has provided the old CA, the old key of service accounts, or public keys beside it. */
export async function isProvided(plane: Plane, {id, spec, separatedFrom}: Unit): Promise<boolean> {
  if (separatedFrom !== undefined) return false
  const folder = folderOf(plane, 'old')
  const hasPublic = !spec && (await lookAt(join(folder, PUBLIC))) !== undefined
  const key = spec ? placeOf({id, signsFrom: 'start'}).key : PRIVATE
  const names = [key, ...(hasPublic ? [PUBLIC] : [])]
  const made = await readMadeFiles(plane)
  const states = await Promise.all(names.map((name) => isAsMade(plane, made, join(folder, name))))
  return !states.every((state) => state ?? plane.generatedAuthorities.includes(id))
}

export interface NewGeneration {
  now: Date
  algorithm?: KeyAlgorithm | undefined
  lifetime?: number | undefined
  brought?: BroughtAuthority | undefined
}

/** Creates the next generation of a CA. Its name has the time in it, so that nobody takes it for the old one. */
export async function createNew(plane: Plane, unit: Unit, options: NewGeneration): Promise<void> {
  if (!unit.spec) return
  const folder = folderOf(plane, 'new')
  await ensureFolder(folder)
  if (await readPair(folder, placeOf(unit))) return
  const {now, algorithm, lifetime = AUTHORITY_LIFETIME, brought} = options
  if (brought) {
    await createPair(folder, placeOf(unit), brought)
    return
  }
  const keys = await generateKeys(algorithm)
  const commonName = `${unit.spec.commonName}@${Math.floor(now.getTime() / 1000)}`
  await createPair(folder, placeOf(unit), {
    certificatePem: await createAuthorityCertificate(
      {commonName},
      keys,
      authorityValidity(now, lifetime),
    ),
    keyPem: privateKeyPem(keys.privateKey),
  })
}

export const issuerOf = ({certificate, keyPem}: HeldAuthority): Issuer | undefined =>
  keyPem === undefined ? undefined : createIssuer(certificate, parsePrivateKey(keyPem))

const crossFile = (plane: Plane): string => join(rotationFolder(plane), 'cross.crt')

/** The new CA of servers as certified by the old one: whoever knows only the old one can verify the new one with it. */
export async function createCross(plane: Plane, unit: Unit, now: Date): Promise<void> {
  if (await lookAt(crossFile(plane))) return
  const pem = await crossSigned(plane, unit, now, AUTHORITY_LIFETIME)
  if (pem !== undefined) await writeFileSafely(crossFile(plane), pem)
}

/** Undefined if the key of the old CA is not on this machine, or if it has expired. */
export async function crossSigned(
  plane: Plane,
  unit: Unit,
  now: Date,
  lifetime: number,
): Promise<string | undefined> {
  const [held, next] = [await readHeld(plane, unit, 'old'), await readHeld(plane, unit, 'new')]
  const issuer = held && issuerOf(held)
  if (!issuer || !next || now >= issuer.certificate.notAfter) return undefined
  return await crossSign(issuer, next.certificate, authorityValidity(now, lifetime))
}

export async function readCross(plane: Plane): Promise<Certificate | undefined> {
  const text = (await readFileIfThere(crossFile(plane)))?.toString()
  return text === undefined ? undefined : parseCertificate(text)
}

/** The keys of service accounts of one generation. */
export interface HeldKeys {
  privatePem: string
  /** Everything that is believed: the key that signs first, then what else an operator has put into the file. */
  publicPem: string
}

const {privateKey: PRIVATE, publicKey: PUBLIC} = SERVICE_ACCOUNT_KEYS

export async function readHeldKeys(plane: Plane, which: Which): Promise<HeldKeys | undefined> {
  const path = join(folderOf(plane, which), PRIVATE)
  const text = (await readFileIfThere(path, {secret: true}))?.toString()
  if (text === undefined) return undefined
  const own = publicKeyPem(publicHalf(parsePrivateKey(text)))
  const all = (await readFileIfThere(join(folderOf(plane, which), PUBLIC)))?.toString() ?? own
  const others = parsePublicKeys(all)
    .map((key) => publicKeyPem(key))
    .filter((pem) => pem !== own)
  return {privatePem: text, publicPem: [own, ...others].join('')}
}

export const describeKeys = ({publicPem}: HeldKeys): Generation => {
  const [own = {pin: ''}, ...others] = parsePublicKeys(publicPem).map((key) => ({
    pin: `sha256:${createHash('sha256').update(publicKeyDer(key)).digest('hex')}`,
  }))
  return {...own, ...(others.length > 0 && {others})}
}

/** Copies the public keys aside: other ones than that of the signing key are nowhere else. */
async function keepPublicKeys(plane: Plane): Promise<void> {
  const data = (await readFileIfThere(join(certDirOf(plane), PUBLIC)))?.toString()
  if (data === undefined) return
  const path = join(folderOf(plane, 'old'), PUBLIC)
  const note = await notesOurs(plane, SERVICE_ACCOUNT_KEYS.id, [PUBLIC])
  await note?.([{path, data}])
  await writeFileSafely(path, data)
}

/** Copies the signing key aside and creates the next one. */
export async function keepAndCreateKeys(plane: Plane, algorithm?: KeyAlgorithm): Promise<void> {
  for (const which of ['old', 'new'] as const) await ensureFolder(folderOf(plane, which))
  if (!(await readHeldKeys(plane, 'old'))) {
    const text = await readFileIfThere(join(certDirOf(plane), PRIVATE), {secret: true})
    const path = join(folderOf(plane, 'old'), PRIVATE)
    const note = await notesOurs(plane, SERVICE_ACCOUNT_KEYS.id, [PRIVATE])
    await keepPublicKeys(plane)
    if (text) await note?.([{path, data: text.toString()}])
    if (text) await writeFileSafely(path, text)
  }
  if (await readHeldKeys(plane, 'new')) return
  const keys = await generateKeys(algorithm)
  await writeFileSafely(join(folderOf(plane, 'new'), PRIVATE), privateKeyPem(keys.privateKey))
}
