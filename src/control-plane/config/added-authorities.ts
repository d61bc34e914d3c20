import {TrustError} from '../../errors.ts'
import {AUTHORITIES, type AuthoritySpec} from '../../pki/catalog.ts'
import {text, type Read} from './fields.ts'

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

const invalid = (message: string, ...hints: string[]): TrustError =>
  new TrustError('CONFIG_INVALID', message, {hints})

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

const isField = (name: string): name is keyof AddedAuthority => Object.hasOwn(FIELDS, name)

function authority(value: unknown, name: string): AddedAuthority {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw invalid(`${name} is not a map`)
  }
  const read: Partial<AddedAuthority> = {}
  for (const [field, content] of Object.entries(value)) {
    if (!isField(field)) {
      throw invalid(
        `unknown field ${name}.${field}`,
        `${name} has ${Object.keys(FIELDS).join(', ')}`,
      )
    }
    if (content !== null) Object.assign(read, {[field]: FIELDS[field](content, `${name}.${field}`)})
  }
  if (read.name === undefined) throw invalid(`${name}.name is missing`)
  return {...read, name: read.name, signs: read.signs ?? 'clients'}
}

/** `authorities` of the configuration. */
export const addedAuthorities: Read<AddedAuthority[]> = (value, name) => {
  if (!Array.isArray(value)) throw invalid(`${name} is not a list of CAs`)
  if (value.length > MOST_AUTHORITIES)
    throw invalid(`${name} has more than ${MOST_AUTHORITIES} CAs`)
  const read = value.map((one: unknown, index) => authority(one, `${name}[${index}]`))
  const names = read.map((one) => one.name)
  const repeated = names.find((one, index) => names.indexOf(one) < index)
  if (repeated === undefined) return read
  throw invalid(`${name} has "${repeated}" twice`)
}

/** The entry of an added CA in the catalog. */
export const specOf = ({name}: AddedAuthority): AuthoritySpec => ({
  id: name,
  commonName: name,
  place: {kind: 'pair', crt: `${name}.crt`, key: `${name}.key`},
  trustedFor: [],
  when: 'always',
})
