import {createHash} from 'node:crypto'
import {API_SERVER_CLIENT, SHORTEST_SECONDS} from '../../csr/signers.ts'
import type {OutcomeHints} from '../../enrollment/outcome.ts'
import type {WantedCertificate} from '../../enrollment/request.ts'
import {TrustError} from '../../errors.ts'
import {NO_NAMES, namesOfHosts} from '../../pki/subject-names.ts'
import {isUsage} from '../../pki/usages.ts'

/** What a certificate is requested for: a user of the cluster, or a service with its hosts. */
export interface Wish {
  user?: string | undefined
  groups?: readonly string[] | undefined
  /** DNS names and IP addresses. */
  hosts?: readonly string[] | undefined
  signer?: string | undefined
  usages?: readonly string[] | undefined
  /** Milliseconds. */
  duration?: number | undefined
}

export interface LabelledCertificate extends WantedCertificate {
  /** For names of files and requests. */
  label: string
}

const LONGEST_SECONDS = 2 ** 31 - 1
const LONGEST_LABEL = 50
const LONGEST_COMMON_NAME = 64

function usage(message: string, ...hints: string[]): TrustError {
  return new TrustError('USAGE', message, {hints})
}

/** Adds the usual defaults; refuses what no signer could sign. */
export function wantedCertificate(wish: Wish): LabelledCertificate {
  const {user, hosts = []} = wish
  if ((user === undefined) === (hosts.length === 0)) {
    throw usage(
      'a certificate is either for a user or for a service',
      'for a user of the cluster, use --user and optionally --group',
      'for a service, use --service with a DNS name or an IP address, and --signer',
    )
  }
  const seconds = secondsOf(wish.duration)
  const rest = {usages: usagesOf(wish), ...(seconds !== undefined && {seconds})}
  return user === undefined
    ? {...forService(wish, hosts), ...rest}
    : {...forUser(wish, user), ...rest}
}

type Kind = Omit<LabelledCertificate, 'usages' | 'seconds'>

function forUser({groups = [], signer = API_SERVER_CLIENT}: Wish, user: string): Kind {
  const isPlain = (text: string) => text.trim() === text && text !== '' && !/\p{C}/u.test(text)
  if (!isPlain(user) || !groups.every(isPlain)) {
    throw usage(
      'the name of a user or group is empty, or has invalid characters',
      'remove line breaks, control characters and spaces around the name',
    )
  }
  if (Array.from(user).length > LONGEST_COMMON_NAME) {
    throw usage(`the name of a user has at most ${LONGEST_COMMON_NAME} characters`)
  }
  const organizations = [...new Set(groups)]
  return {label: labelOf(user), subject: {commonName: user, organizations}, names: NO_NAMES, signer}
}

function forService({groups = [], signer}: Wish, hosts: readonly string[]): Kind {
  if (groups.length > 0) throw usage('--group needs --user: groups are for users')
  const names = namesOfHosts(hosts)
  if (signer === undefined) {
    throw usage(
      'a certificate for a service needs --signer',
      'Kubernetes has no signer for services: name one that runs in this cluster, as in "--signer example.com/services"',
      'kubernetes.io/kubelet-serving signs for nodes only',
    )
  }
  const [host = ''] = [...names.dns, ...names.ips]
  const commonName = host.length <= LONGEST_COMMON_NAME ? host : ''
  return {label: labelOf(host), subject: {commonName, organizations: []}, names, signer}
}

/** RSA keys could be used for key encipherment too, but only if --usages says so. */
function usagesOf({usages, user}: Wish): string[] {
  const wanted = usages ?? ['digital signature', user === undefined ? 'server auth' : 'client auth']
  const unknown = wanted.find((one) => !isUsage(one))
  if (unknown !== undefined) {
    throw usage(
      `unknown usage ${JSON.stringify(unknown)}`,
      'the usages are, for example, "digital signature", "client auth", "server auth", "key encipherment"',
    )
  }
  return [...new Set(wanted)]
}

function secondsOf(duration: number | undefined): number | undefined {
  if (duration === undefined) return undefined
  const seconds = Math.floor(duration / 1000)
  if (seconds >= SHORTEST_SECONDS && seconds <= LONGEST_SECONDS) return seconds
  throw usage(
    '--duration is shorter than ten minutes or longer than 68 years',
    "leave it out for the signer's default",
  )
}

/** Characters that are valid both in file names and in names of objects. */
const labelOf = (text: string): string =>
  text
    .toLowerCase()
    .replaceAll(/[^a-z0-9.]+/g, '-')
    .replaceAll(/^[-.]+|[-.]+$/g, '')
    .slice(0, LONGEST_LABEL) || 'certificate'

/** For a request with a chosen name: a second run would find the decision about the first. */
export const ASK_UNDER_OTHER_NAME: OutcomeHints = {
  CERTIFICATE_DENIED: ['a denied request stays denied: run the command again with another name'],
  CERTIFICATE_FAILED: ['request something that the signer permits, with another name'],
}

/** The same name for the same request and key, so that a second run finds the request of the first. */
export function requestName({label, ...wanted}: LabelledCertificate, pin: string): string {
  const hash = createHash('sha256')
    .update(JSON.stringify([wanted, pin]))
    .digest('hex')
  return `${label}-${hash.slice(0, 12)}`
}
