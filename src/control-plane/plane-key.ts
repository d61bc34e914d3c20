import {createHash, randomBytes} from 'node:crypto'
import {join} from 'node:path'
import {messageOf, TrustError} from '../errors.ts'
import {createFiles} from '../fs/file-groups.ts'
import {readFileIfThere} from '../fs/files.ts'
import {ensureFolder} from '../fs/folders.ts'
import {certDirOf, type Plane} from './config/plane.ts'
import {notesMade} from '../fs/made-files.ts'

/**
 * The key that all machines of a control plane share, in their certificate folder. What a rotation hands from one to the others is
 * encrypted with it. In the store it is only after `upload-certs`, for two hours, encrypted with the certificate key.
 */
export const PLANE_KEY_FILE = 'plane.key'

const BYTES = 32
const FORM = /^([0-9a-f]{64})\n?$/
const ID_LENGTH = 8

const pathOf = (plane: Plane): string => join(certDirOf(plane), PLANE_KEY_FILE)

/** The key of this machine; undefined if it has none, as one that an earlier version has set up. */
export async function readPlaneKey(plane: Plane): Promise<Buffer | undefined> {
  const content = await readFileIfThere(pathOf(plane), {secret: true})
  return content && parsePlaneKey(content, pathOf(plane))
}

/** What the other servers are shown of it. A server that cannot read its key serves, but cannot follow rotations. */
export async function findPlaneKeyId(
  plane: Plane,
  log: (line: string) => void,
): Promise<string | undefined> {
  try {
    const key = await readPlaneKey(plane)
    return key && planeKeyId(key)
  } catch (error) {
    log(`error: rotations of other servers cannot be followed: ${messageOf(error)}`)
    return undefined
  }
}

/** Never shows the content: a damaged key is still most of a secret. */
export function parsePlaneKey(content: Buffer, where: string): Buffer {
  const [, digits] = FORM.exec(content.toString()) ?? []
  if (digits !== undefined) return Buffer.from(digits, 'hex')
  throw new TrustError('CONFIG_INVALID', `${where} is not a key of a control plane`, {
    hints: ['copy the file from another machine of the control plane, or restore it from a backup'],
  })
}

/** The key of this machine, which is created if there is none. The caller holds the lock of the control plane. */
export async function ensurePlaneKey(plane: Plane): Promise<Buffer> {
  const found = await readPlaneKey(plane)
  if (found) return found
  const data = `${randomBytes(BYTES).toString('hex')}\n`
  await ensureFolder(certDirOf(plane))
  await notesMade(plane)([{path: pathOf(plane), data}])
  await createFiles(certDirOf(plane), PLANE_KEY_FILE, [{name: PLANE_KEY_FILE, data}])
  return (await readPlaneKey(plane)) ?? Buffer.from(data.trim(), 'hex')
}

/** Tells keys apart without showing anything of them. */
export const planeKeyId = (key: Buffer): string =>
  createHash('sha256').update('trustadm plane key\n').update(key).digest('hex').slice(0, ID_LENGTH)
