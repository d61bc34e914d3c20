import {AUTHORITIES, type AuthoritySpec} from '../../pki/catalog.ts'
import {fieldsOf, invalid, namedList, type Read, text} from './fields.ts'

/** What the certificates of a CA are for. Clients change to a new CA first, servers last: everybody must trust it by then. */
export const SIGNS = ['clients', 'servers'] as const
type Signs = (typeof SIGNS)[number]

/** A CA that an operator adds. The cluster trusts it for nothing; it rotates together with the others. */
export interface AddedAuthority {
  /** As in `vpn-ca`; its files are `pki/vpn-ca.crt` and `.key`. */
  name: string
  signs: Signs
  /** For people. */
  description?: string
  /** For the shell: run each time a rotation has changed its files. */
  onChange?: string
}

const MOST_AUTHORITIES = 64
const LONGEST_TEXT = 4096
/** The ending keeps its files apart from those of certificates and keys in the same folder. */
const NAME = /^[a-z0-9][-a-z0-9]{0,58}-ca$/

/** The name of a CA that may be added. */
export const authorityName: Read<string> = (value, name) => {
  const found = text(value, name)
  if (!NAME.test(found)) {
    throw invalid(
      `${name} must have lowercase letters, digits and "-", at most 62 characters, and end with "-ca"`,
      'choose a name as in "vpn-ca"',
    )
  }
  if (AUTHORITIES.every(({id}) => id !== found)) return found
  throw invalid(`${name} must not be "${found}": the control plane has a CA of that name`)
}

const short: Read<string> = (value, name) => {
  const found = text(value, name)
  if (found.length <= LONGEST_TEXT && !found.includes('\0')) return found
  throw invalid(`${name} must have at most ${LONGEST_TEXT} characters, and none that is NUL`)
}

const signs: Read<Signs> = (value, name) => {
  const found = SIGNS.find((one) => one === value)
  if (found !== undefined) return found
  throw invalid(`${name} must be ${SIGNS.join(' or ')}`)
}

const FIELDS: {[Name in keyof AddedAuthority]-?: Read<AddedAuthority[Name]>} = {
  name: authorityName,
  signs,
  description: short,
  onChange: short,
}

const authority: Read<AddedAuthority> = (value, name) => {
  const read = fieldsOf<AddedAuthority>(value, name, FIELDS)
  if (read.name === undefined) throw invalid(`${name}.name is missing`)
  return {...read, name: read.name, signs: read.signs ?? 'clients'}
}

/** `authorities` of the configuration. */
export const addedAuthorities = namedList('CAs', MOST_AUTHORITIES, authority)

/** The entry of an added CA in the catalog. */
export const specOf = ({name}: AddedAuthority): AuthoritySpec => ({
  id: name,
  commonName: name,
  place: {kind: 'pair', crt: `${name}.crt`, key: `${name}.key`},
  trustedFor: [],
  when: 'always',
})
