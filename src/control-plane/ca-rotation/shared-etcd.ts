import {join} from 'node:path'
import {replaceFiles} from '../../fs/file-groups.ts'
import {readFileIfThere} from '../../fs/files.ts'
import {replaceSecret} from '../../fs/shred.ts'
import {isMatching} from '../../pki/pair-store.ts'
import {certDirOf, type Plane} from '../config/plane.ts'
import {notesMade} from '../made-files.ts'
import {ETCD_FILES} from '../shared-certs.ts'

type Files = Readonly<Record<string, string>>
type EtcdFile = keyof typeof ETCD_FILES

const NAMES = Object.entries(ETCD_FILES) as [EtcdFile, string][]
/** Where the machine that has the CA of etcd keeps it. */
const OWN_CA = 'etcd/ca.crt'

const isOwner = (plane: Plane): boolean =>
  plane.settings.etcdCaFile === join(certDirOf(plane), OWN_CA)

/** What a server shows to etcd and verifies it with, for machines that have copies: from the machine that has the CA of etcd. */
export async function readEtcdFiles(plane: Plane): Promise<Files> {
  if (!isOwner(plane)) return {}
  const files: Record<string, string> = {}
  for (const [setting, name] of NAMES) {
    const path = plane.settings[setting]
    const content = path && (await readFileIfThere(path, {secret: name.endsWith('.key')}))
    if (content) files[name] = content.toString()
  }
  return files
}

/**
 * Replaces the copies that this machine got when it joined. Both generations are trusted between `start` and `complete`, so etcd accepts the
 * copy of before and the new one. Files elsewhere are an operator's.
 */
export async function writeEtcdFiles(
  plane: Plane,
  files: Files,
  log: (line: string) => void,
): Promise<void> {
  const certDir = certDirOf(plane)
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
