import {join} from 'node:path'
import {replaceFiles} from '../../fs/file-groups.ts'
import {readFileIfThere, writeFileSafely} from '../../fs/files.ts'
import {replaceSecret} from '../../fs/shred.ts'
import type {Authority} from '../../pki/authority.ts'
import {isSameBundle} from '../../pki/bundle.ts'
import {catalogFor} from '../../pki/catalog.ts'
import {parseCertificate, type Certificate} from '../../pki/certificate.ts'
import {renewLeaf} from '../../pki/leaf.ts'
import {isMatching} from '../../pki/pair-store.ts'
import {findAuthority, leafOptions} from '../certificates.ts'
import {certDirOf, type Plane} from '../config/plane.ts'
import {notesMade} from '../../fs/made-files.ts'
import {ETCD_FILES} from '../shared-certs.ts'
import {withOwnCas} from './own-etcd-cas.ts'
import {isIssuedBy, type RenewContext} from './renew-leaves.ts'
import type {Journal} from './journal.ts'
import {ETCD_CA, rotatesEtcd} from './units.ts'

type Files = Readonly<Record<string, string>>
type EtcdFile = keyof typeof ETCD_FILES

const NAMES = Object.entries(ETCD_FILES) as [EtcdFile, string][]
/** Where a machine that has the CA of etcd keeps it. */
const OWN_CA = 'etcd/ca.crt'
/** What machines that joined have instead of "apiserver-etcd-client". */
const COPIES = catalogFor({externalEtcd: true})
  .leaves.filter(({id}) => id === 'apiserver-etcd-client')
  .map((leaf) => ({
    ...leaf,
    id: 'external-etcd',
    place: {kind: 'pair', crt: ETCD_FILES.etcdCertFile, key: ETCD_FILES.etcdKeyFile} as const,
  }))

const isOwner = (plane: Plane): boolean =>
  plane.settings.etcdCaFile === join(certDirOf(plane), OWN_CA)

const hasCopies = (plane: Plane): boolean =>
  NAMES.every(([setting, name]) => plane.settings[setting] === join(certDirOf(plane), name))

interface Copies {
  authority: Authority
  certificate: Certificate
  caPem: string
}

/** The copies that "join" wrote here, if this machine also has the CA of etcd that has signed them. */
async function findCopies(plane: Plane): Promise<Copies | undefined> {
  if (!hasCopies(plane)) return undefined
  const authority = await findAuthority(plane, ETCD_CA)
  const certDir = certDirOf(plane)
  const pem = await readFileIfThere(join(certDir, ETCD_FILES.etcdCertFile))
  const caPem = await readFileIfThere(join(certDir, ETCD_FILES.etcdCaFile))
  if (!authority || !pem || !caPem) return undefined
  const certificate = parseCertificate(pem.toString())
  if (!authority.bundle.some((one) => isIssuedBy(certificate, one))) return undefined
  return {authority, certificate, caPem: caPem.toString()}
}

/** On a machine that rotates the CA of etcd and has copies of the files for it: no other machine renews these. */
export async function renewCopies(context: RenewContext): Promise<void> {
  const {plane, journal, clock, tell} = context
  const found = rotatesEtcd(journal) ? await findCopies(plane) : undefined
  if (!found) return
  const {authority, certificate, caPem} = found
  const data = withOwnCas(authority.bundlePem, caPem, [journal])
  if (!isSameBundle(caPem, data)) {
    const path = join(certDirOf(plane), ETCD_FILES.etcdCaFile)
    await notesMade(plane)([{path, data}])
    await writeFileSafely(path, data)
    tell('the copy of the CA of etcd was updated')
  }
  if (isIssuedBy(certificate, authority.certificate) || !authority.issuer) return
  for (const leaf of COPIES) {
    await renewLeaf(authority, leaf, await leafOptions(plane, leaf), clock)
    tell(`"${leaf.id}" was renewed`)
  }
}

/**
 * What a server shows to etcd and verifies it with, for machines that have copies: from a machine that has the CA of etcd. One that has
 * copies itself shares them only if it renews them: those of others may be newer.
 */
export async function readEtcdFiles(plane: Plane, journal: Pick<Journal, 'units'>): Promise<Files> {
  const isSource = isOwner(plane) || (rotatesEtcd(journal) && (await findCopies(plane)))
  if (!isSource) return {}
  const files: Record<string, string> = {}
  for (const [setting, name] of NAMES) {
    const path = plane.settings[setting]
    const content = path && (await readFileIfThere(path, {secret: name.endsWith('.key')}))
    if (content) files[name] = content.toString()
  }
  return files
}

interface WriteOptions {
  /** That of the rotation, and that of the last one that this machine has followed. */
  journals: readonly Pick<Journal, 'units'>[]
  log: (line: string) => void
}

/**
 * Replaces the copies that this machine got when it joined. Both generations are trusted between `start` and `complete`, so etcd accepts the
 * copy of before and the new one. Files elsewhere are an operator's.
 */
export async function writeEtcdFiles(
  plane: Plane,
  shared: Files,
  {journals, log}: WriteOptions,
): Promise<void> {
  const certDir = certDirOf(plane)
  const files = await withPresentCas(certDir, shared, journals)
  const given = NAMES.flatMap(([setting, name]) => {
    const data = files[name]
    return data === undefined ? [] : [{setting, name, data}]
  })
  if (given.length === 0 || isOwner(plane)) return
  if (given.some(({setting, name}) => plane.settings[setting] !== join(certDir, name))) {
    log('the files for etcd stay as they are: they are not those that "join" wrote; renew them')
    return
  }
  const {etcdCertFile, etcdKeyFile} = ETCD_FILES
  const [certificatePem, keyPem] = [files[etcdCertFile], files[etcdKeyFile]]
  if (certificatePem !== undefined && !isMatching({certificatePem, keyPem: keyPem ?? ''})) {
    log('the files for etcd stay as they are: the certificate and the key do not belong together')
    return
  }
  const found = await Promise.all(given.map(({name}) => readFileIfThere(join(certDir, name))))
  if (found.every((content, index) => content?.toString() === given[index]?.data)) return
  const group = given.map(({name, data}) => ({name, data}))
  await notesMade(plane)(group.map(({name, data}) => ({path: join(certDir, name), data})))
  await replaceSecret(join(certDir, etcdKeyFile), () =>
    replaceFiles(certDir, 'external-etcd', group),
  )
  log('the files for etcd were renewed')
}

async function withPresentCas(
  certDir: string,
  files: Files,
  journals: WriteOptions['journals'],
): Promise<Files> {
  const {etcdCaFile: name} = ETCD_FILES
  const wanted = files[name]
  const present = await readFileIfThere(join(certDir, name))
  if (wanted === undefined || !present) return files
  return {...files, [name]: withOwnCas(wanted, present.toString(), journals)}
}
