import {NAME_KINDS, type NameKind} from '../../csr/signers.ts'
import {PURPOSES, type Purpose} from '../../pki/catalog.ts'
import {LEAF_LIFETIME} from '../../pki/lifetimes.ts'
import {USAGES} from '../../pki/usages.ts'
import {duration, fieldsOf, invalid, namedList, type Read, text, texts} from './fields.ts'

/** A signer that an operator adds. What a request asks for must be within its rules; nothing is approved automatically. */
export interface SignerSettings {
  /** As in `example.com/services`. */
  name: string
  /** The files of its CA; relative to the folder of the control plane. */
  certificate: string
  key: string
  usages: string[]
  /** One `*` stands for one or more characters; absent: any. */
  commonName?: string
  organizations: string[]
  /** The kinds of alternative names. */
  names: NameKind[]
  /** In milliseconds. */
  maxValidityPeriod: number
  /** What its CA is trusted for nevertheless; the operator must say so. */
  trustedFor: Purpose[]
}

const MOST_SIGNERS = 64
const MOST_ITEMS = 64
const LONGEST_NAME = 571
const LABEL = '[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?'
/** As the API server requires for names of signers. */
const SIGNER_NAME = new RegExp(`^(?=[^/]{1,253}/)${LABEL}(\\.${LABEL})+/${LABEL}(\\.${LABEL})*$`)
const RESERVED = /(^|\.)(kubernetes|k8s)\.io$/
const CERT_SIGN = 'cert sign'

const signerName: Read<string> = (value, name) => {
  const whole = text(value, name)
  if (whole.length > LONGEST_NAME || !SIGNER_NAME.test(whole)) {
    throw invalid(`${name} must be a domain and a name as in "example.com/services"`)
  }
  const [domain = ''] = whole.split('/')
  if (!RESERVED.test(domain)) return whole
  throw invalid(
    `${name} must be in a domain of yours, not "${domain}", which is Kubernetes'`,
    'to choose the CAs of Kubernetes’ own signers, use the --cluster-signing flags of "serve"',
  )
}

const list: Read<string[]> = (value, name) => {
  const items = texts(value, name)
  if (items.length <= MOST_ITEMS) return [...new Set(items)]
  throw invalid(`${name} has more than ${MOST_ITEMS} entries`)
}

const oneOf =
  <T extends string>(allowed: readonly T[]): Read<T[]> =>
  (value, name) =>
    list(value, name).map((item) => {
      const found = allowed.find((one) => one === item)
      if (found !== undefined) return found
      throw invalid(
        `${name} contains ${JSON.stringify(item)}`,
        `the values are ${allowed.join(', ')}`,
      )
    })

const usages: Read<string[]> = (value, name) => {
  const found = oneOf(USAGES)(value, name)
  if (found.includes(CERT_SIGN)) {
    throw invalid(`${name} contains "${CERT_SIGN}", but signers never issue CA certificates`)
  }
  if (found.length > 0) return found
  throw invalid(`${name} is empty`, 'list the usages that requests may have')
}

const pattern: Read<string> = (value, name) => {
  const found = text(value, name)
  if (found.split('*').length <= 2) return found
  throw invalid(`${name} must be a common name with at most one "*"`)
}

const FIELDS: {[Name in keyof SignerSettings]-?: Read<SignerSettings[Name]>} = {
  name: signerName,
  certificate: text,
  key: text,
  usages,
  commonName: pattern,
  organizations: list,
  names: oneOf(NAME_KINDS),
  maxValidityPeriod: duration,
  trustedFor: oneOf(PURPOSES),
}
const REQUIRED = ['name', 'certificate', 'key', 'usages'] as const

const signer: Read<SignerSettings> = (value, name) => {
  const read = fieldsOf<SignerSettings>(value, name, FIELDS)
  const missing = REQUIRED.find((field) => read[field] === undefined)
  if (missing !== undefined) {
    throw invalid(`${name}.${missing} is missing`, `a signer needs ${REQUIRED.join(', ')}`)
  }
  const defaults = {organizations: [], names: [], maxValidityPeriod: LEAF_LIFETIME, trustedFor: []}
  return {...defaults, ...(read as Pick<SignerSettings, (typeof REQUIRED)[number]>)}
}

/** `signers` of the configuration. */
export const signers = namedList('signers', MOST_SIGNERS, signer)
