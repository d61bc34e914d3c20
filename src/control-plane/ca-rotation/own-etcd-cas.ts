import {encodeBundle, parseBundle} from '../../pki/bundle.ts'
import type {Certificate} from '../../pki/certificate.ts'
import type {Generation, Journal} from './journal.ts'
import {ETCD_CA} from './units.ts'

type Units = Pick<Journal, 'units'>

/** Every CA of etcd that rotations have brought or ended. */
function rotatedIn(journals: readonly Units[]): Set<string | undefined> {
  const records = journals.flatMap(({units}) => units.filter(({id}) => id === ETCD_CA))
  const certificates = ({fingerprint, others = []}: Generation) => [
    fingerprint,
    ...others.map((one) => one.fingerprint),
  ]
  return new Set(records.flatMap((record) => [record.old, record.new].flatMap(certificates)))
}

/**
 * The CAs that etcd is verified with: those of the rotation, and those that an operator has added to the file, such as that of an etcd that
 * members move to. Only a CA of a rotation ends with it.
 */
export function withOwnCas(wanted: string, present: string, journals: readonly Units[]): string {
  const rotated = rotatedIn(journals)
  const known = new Set(parseBundle(wanted).map(({fingerprint}) => fingerprint))
  const own = readable(present).filter(
    ({fingerprint}) => !rotated.has(fingerprint) && !known.has(fingerprint),
  )
  return own.length === 0 ? wanted : encodeBundle([...parseBundle(wanted), ...own])
}

/** None if the file is damaged: it is replaced. */
function readable(pem: string): Certificate[] {
  try {
    return parseBundle(pem)
  } catch {
    return []
  }
}
