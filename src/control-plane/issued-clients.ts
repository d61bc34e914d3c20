import {readIssuances} from '../controllers/signing/read-log.ts'
import {lookAt} from '../fs/file-checks.ts'
import {fileOf, type Plane} from './config/plane.ts'

/** Where a server lists what is in its issuance log: the other machines cannot read the file. Allowed to cluster-admin only. */
export const ISSUED_PATH = '/trustadm/issued-certificates'

/** A certificate of the issuance log. */
export interface IssuedCertificate {
  user: string
  issuerFingerprint: string
  notBefore: string
  notAfter: string
}

/** What `ISSUED_PATH` returns. */
export interface IssuedList {
  /** The name of the machine, as the signers call its log. */
  server: string
  certificates: IssuedCertificate[]
}

/** The newest certificate of each user in the issuance log of this machine. */
export async function readIssuedClients(
  plane: Plane,
  warn: (line: string) => void,
): Promise<IssuedList> {
  const newest = new Map<string, IssuedCertificate>()
  const file = fileOf(plane, 'issuances')
  if (await lookAt(file)) {
    await readIssuances(
      file,
      (entry) => {
        if (entry.decision !== 'issued' || entry.issuerFingerprint === undefined) return
        const {commonName: user, issuerFingerprint, notBefore, notAfter} = entry
        if (user === undefined || notBefore === undefined || notAfter === undefined) return
        if ((newest.get(user)?.notBefore ?? '') <= notBefore)
          newest.set(user, {user, issuerFingerprint, notBefore, notAfter})
      },
      warn,
    )
  }
  return {server: plane.settings.nodeName, certificates: [...newest.values()]}
}

/** The same for a server, which is asked every second while a rotation waits: the log is read again only if it has a new line. */
export function issuedClientsReader(
  plane: Plane,
  head: () => string | undefined,
  warn: (line: string) => void,
): () => Promise<IssuedList> {
  let last: {head: string; list: Promise<IssuedList>} | undefined
  return async () => {
    const newest = head()
    if (newest === undefined) return await readIssuedClients(plane, warn)
    if (last?.head !== newest) last = {head: newest, list: readIssuedClients(plane, warn)}
    const {list} = last
    try {
      return await list
    } catch (error) {
      last = undefined
      throw error
    }
  }
}
