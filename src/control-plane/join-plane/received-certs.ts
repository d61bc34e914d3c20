import {join} from 'node:path'
import {elsewhere, messageOf, TrustError} from '../../errors.ts'
import {createFiles, replaceFiles} from '../../fs/file-groups.ts'
import {readFileIfThere} from '../../fs/files.ts'
import {ensureFolder} from '../../fs/folders.ts'
import {parseBundle} from '../../pki/bundle.ts'
import {AUTHORITIES, SERVICE_ACCOUNT_KEYS, catalogFor} from '../../pki/catalog.ts'
import {publicKeyOf} from '../../pki/certificate.ts'
import {isPairOf, parsePrivateKey, parsePublicKeys} from '../../pki/keys.ts'
import {createPair, isMatching, type BeforeWrite} from '../../pki/pair-store.ts'
import {parsePlaneKey, PLANE_KEY_FILE} from '../plane-key.ts'
import {CERTS_SECRET, ETCD_FILES, type SharedFiles} from '../shared-certs.ts'

/** A CA that was received, with its key unless it is an external one. */
interface Pair {
  crt: string
  key: string
}

const AGAIN = [
  elsewhere(
    'upload the CAs again with "trustadm init phase upload-certs" on a machine of the control plane',
  ),
]

const unusable = (problem: string): TrustError =>
  new TrustError(
    'CERTS_UNUSABLE',
    `the Secret ${CERTS_SECRET.namespace}/${CERTS_SECRET.name} cannot be used: ${problem}`,
    {hints: AGAIN},
  )

/** Checks that all is there and belongs together, and that the CA is the one of the cluster that was found. Writes nothing. */
export function requireConsistent(files: SharedFiles, clusterCa: string | undefined): void {
  const text = (path: string) => files.get(path)?.toString()
  for (const {id, place} of catalogFor().authorities) {
    if (!files.has(place.crt)) throw unusable(`it has no certificate of the CA "${id}"`)
  }
  for (const {id, place} of AUTHORITIES) requirePair(id, place, text)
  requireKeys(text)
  requireEtcdPair(text)
  requirePlaneKey(files)
  const trusted = clusterCa === undefined ? [] : parseBundle(clusterCa)
  const [ca] = parseBundle(text('ca.crt') ?? '')
  if (trusted.length > 0 && !trusted.some((one) => one.fingerprint === ca?.fingerprint)) {
    throw unusable('its CA is not the one of the cluster')
  }
}

function requirePair(id: string, {crt, key}: Pair, text: (path: string) => string | undefined) {
  const [certificatePem, keyPem] = [text(crt), text(key)]
  if (certificatePem === undefined && keyPem === undefined) return
  if (certificatePem === undefined) throw unusable(`it has the key of the CA "${id}" alone`)
  let isRight: boolean
  try {
    const [certificate] = parseBundle(certificatePem)
    isRight =
      certificate !== undefined &&
      certificate.isAuthority &&
      (keyPem === undefined || isPairOf(parsePrivateKey(keyPem), publicKeyOf(certificate)))
  } catch (error) {
    throw unusable(`the CA "${id}": ${messageOf(error)}`)
  }
  if (!isRight) throw unusable(`certificate and key of the CA "${id}" do not belong together`)
}

function requireKeys(text: (path: string) => string | undefined): void {
  const {privateKey: privatePath, publicKey: publicPath} = SERVICE_ACCOUNT_KEYS
  const [privatePem, publicPem] = [text(privatePath), text(publicPath)]
  if (privatePem === undefined || publicPem === undefined) {
    throw unusable('it has no service account keys')
  }
  const key = parsePrivateKey(privatePem)
  if (!parsePublicKeys(publicPem).some((one) => isPairOf(key, one))) {
    throw unusable('the service account keys do not belong together')
  }
}

function requireEtcdPair(text: (path: string) => string | undefined): void {
  const {etcdCertFile, etcdKeyFile} = ETCD_FILES
  const [certificatePem, keyPem] = [text(etcdCertFile), text(etcdKeyFile)]
  if (certificatePem === undefined && keyPem === undefined) return
  if (isMatching({certificatePem: certificatePem ?? '', keyPem: keyPem ?? ''})) return
  throw unusable('certificate and key for etcd do not belong together')
}

function requirePlaneKey(files: SharedFiles): void {
  const content = files.get(PLANE_KEY_FILE)
  try {
    if (content) parsePlaneKey(content, `"${PLANE_KEY_FILE}"`)
  } catch (error) {
    throw unusable(messageOf(error))
  }
}

/** Refuses to mix two clusters, before anything is written. */
export async function requireNoOther(certDir: string, files: SharedFiles): Promise<void> {
  for (const [path, data] of files) {
    if (isForEtcd(path)) continue
    const found = await readFileIfThere(join(certDir, path), {secret: path.endsWith('.key')})
    if (!found || found.equals(data)) continue
    throw new TrustError('CONFLICT', `${join(certDir, path)} is not that of the cluster`, {
      hints: ['use another folder with --dir, or move away what is in this one'],
    })
  }
}

/** Says nothing about the cluster: it is renewed from time to time, and the newest is used. */
const isForEtcd = (path: string): boolean => Object.values(ETCD_FILES).some((name) => name === path)

/** Writes what is not there yet, each pair as a whole; a run after an interruption completes it. */
export async function writeReceived(
  certDir: string,
  files: SharedFiles,
  note: BeforeWrite,
): Promise<void> {
  await ensureFolder(certDir)
  for (const {place} of AUTHORITIES) {
    const [certificatePem, keyPem] = [files.get(place.crt), files.get(place.key)]
    if (!certificatePem) continue
    if (keyPem) {
      const material = {certificatePem: certificatePem.toString(), keyPem: keyPem.toString()}
      await createPair(certDir, place, material, note)
    } else await createAlone(certDir, place.crt, certificatePem, note)
  }
  const {id, privateKey, publicKey} = SERVICE_ACCOUNT_KEYS
  const keys = [privateKey, publicKey].map((name) => ({
    name,
    data: files.get(name)?.toString() ?? '',
  }))
  await note(keys.map(({name, data}) => ({path: join(certDir, name), data})))
  await createFiles(certDir, id, keys)
  // Earlier versions upload none.
  const planeKey = files.get(PLANE_KEY_FILE)
  if (planeKey) await createAlone(certDir, PLANE_KEY_FILE, planeKey, note)
  await writeForEtcd(certDir, files, note)
}

async function writeForEtcd(certDir: string, files: SharedFiles, note: BeforeWrite): Promise<void> {
  const group = [...files].filter(([path]) => isForEtcd(path))
  if (group.length === 0) return
  const all = group.map(([name, content]) => ({name, data: content.toString()}))
  await note(all.map(({name, data}) => ({path: join(certDir, name), data})))
  await replaceFiles(certDir, 'external-etcd', all)
}

async function createAlone(
  certDir: string,
  name: string,
  content: Buffer,
  note: BeforeWrite,
): Promise<void> {
  const data = content.toString()
  await note([{path: join(certDir, name), data}])
  await createFiles(certDir, name, [{name, data}])
}
