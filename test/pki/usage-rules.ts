const SIGNATURE = 'digital signature'
const ENCIPHERMENT = 'key encipherment'
const AGREEMENT = 'key agreement'
const COMMITMENT = 'content commitment'

/** RFC 5280 4.2.1.12, as linters read it. */
const ALLOWED: Record<string, readonly string[]> = {
  'server auth': [SIGNATURE, ENCIPHERMENT, AGREEMENT],
  'client auth': [SIGNATURE, AGREEMENT],
  'code signing': [SIGNATURE],
  'email protection': [SIGNATURE, COMMITMENT, ENCIPHERMENT, AGREEMENT],
  timestamping: [SIGNATURE, COMMITMENT],
  'ocsp signing': [SIGNATURE, COMMITMENT],
}

/** The key usages that no extended one allows. */
export const inconsistentUsages = ({
  keyUsages = [],
  extendedKeyUsages = [],
}: {
  keyUsages?: readonly string[]
  extendedKeyUsages?: readonly string[]
}): string[] =>
  keyUsages.filter((usage) => !extendedKeyUsages.some((one) => ALLOWED[one]?.includes(usage)))
