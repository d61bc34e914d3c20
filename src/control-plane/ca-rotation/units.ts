import {join} from 'node:path'
import {didYouMean} from '../../closest.ts'
import {lookAt} from '../../fs/file-checks.ts'
import {SERVICE_ACCOUNT_KEYS, type AuthoritySpec} from '../../pki/catalog.ts'
import {TrustError} from '../../errors.ts'
import {specsOf} from '../certificates.ts'
import type {AddedAuthority} from '../config/added-authorities.ts'
import {certDirOf, type Plane} from '../config/plane.ts'
import type {UnitRecord} from './journal.ts'

/** In which command the new generation starts to sign: clients change first, servers last. */
type SignsFrom = 'start' | 'complete'

/** One CA that rotates, or the keys of service accounts. */
export interface Unit {
  id: string
  signsFrom: SignsFrom
  /** Absent for the keys of service accounts. */
  spec?: AuthoritySpec
  /** The CA that did its work before; it gets its own with the first rotation. */
  separatedFrom?: string
  /** The settings of a CA that an operator has added. */
  added?: AddedAuthority
}

/** Keys that are no CA but rotate in the same two steps. */
const TOKEN_KEYS = SERVICE_ACCOUNT_KEYS.id

/** The id of the CA of an etcd. */
export const ETCD_CA = 'etcd-ca'

export const rotatesEtcd = ({units}: {units: readonly Pick<Unit, 'id'>[]}): boolean =>
  units.some(({id}) => id === ETCD_CA)

/**
 * The CAs of those who may only change once everybody trusts the new one: servers, those who call kubelets, which learn of it from their
 * nodes, and those who talk to an etcd, which has to be restarted for it.
 */
const LATE: readonly string[] = ['ca', ETCD_CA, 'kubelet-ca']
const SEPARATED: Readonly<Record<string, string>> = {'client-ca': 'ca', 'kubelet-ca': 'ca'}

function unitOf({settings}: Plane, spec: AuthoritySpec): Unit {
  const {id} = spec
  const added = settings.authorities.find(({name}) => name === id)
  const isLate = LATE.includes(id) || added?.signs === 'servers'
  return {id, spec, signsFrom: isLate ? 'complete' : 'start', ...(added && {added})}
}

/** Everything that a control plane can rotate. CAs that clients will have from now on are included. */
export async function unitsOf(plane: Plane): Promise<Unit[]> {
  const certDir = certDirOf(plane)
  const units: Unit[] = []
  for (const spec of specsOf(plane)) {
    const separatedFrom = SEPARATED[spec.id]
    if (await lookAt(join(certDir, spec.place.crt))) units.push(unitOf(plane, spec))
    else if (separatedFrom !== undefined) units.push({...unitOf(plane, spec), separatedFrom})
  }
  return [...units, {id: TOKEN_KEYS, signsFrom: 'start'}]
}

/** The unit of a record in a journal; its files need not exist yet. */
export function unitFor(
  plane: Plane,
  {id, separatedFrom}: Pick<UnitRecord, 'id' | 'separatedFrom'>,
): Unit {
  if (id === TOKEN_KEYS) return {id, signsFrom: 'start'}
  const spec = specsOf(plane).find((one) => one.id === id)
  if (spec) return {...unitOf(plane, spec), ...(separatedFrom !== undefined && {separatedFrom})}
  throw new TrustError(
    'CONFIG_INVALID',
    `the CA "${id}" rotates, but "authorities" in config.yaml does not have it`,
    {hints: ['add it there again; "trustadm ca remove" removes it once the rotation is over']},
  )
}

/** Those with these ids; all if none is named. A CA that is separated from another one only rotates together with it. */
export function selectUnits(units: readonly Unit[], only: readonly string[]): Unit[] {
  if (only.length === 0) return [...units]
  const ids = units.map(({id}) => id)
  const unknown = only.filter((id) => !ids.includes(id))
  if (unknown.length > 0) {
    throw new TrustError('USAGE', `there is no CA "${unknown.join('", "')}"`, {
      hints: [...unknown.flatMap((id) => didYouMean(id, ids)), `--only takes ${ids.join(', ')}`],
    })
  }
  const chosen = units.filter(
    ({id, separatedFrom = id}) => only.includes(id) || only.includes(separatedFrom),
  )
  const alone = chosen.find(
    ({separatedFrom}) => separatedFrom !== undefined && !only.includes(separatedFrom),
  )
  if (!alone) return chosen
  throw new TrustError(
    'USAGE',
    `"${alone.id}" does not exist yet: it is created when "${alone.separatedFrom ?? ''}" rotates`,
    {
      hints: [`add "${alone.separatedFrom ?? ''}" to --only`],
    },
  )
}
