import {createHash} from 'node:crypto'
import {API_SERVER_CLIENT, SHORTEST_SECONDS} from '../../csr/signers.ts'
import type {OutcomeHints} from '../../enrollment/outcome.ts'
import type {WantedCertificate} from '../../enrollment/request.ts'
import {TrustError} from '../../errors.ts'
import {NO_NAMES, namesOfHosts} from '../../pki/subject-names.ts'
import {isUsage} from '../../pki/usages.ts'

/** What somebody would like a certificate for: a user of the cluster, or a service by its hosts. */
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

/** Completes a wish by what fits most; refuses what no signer could make anything of. */
export function wantedCertificate(wish: Wish): LabelledCertificate {
  const {user, hosts = []} = wish
  if ((user === undefined) === (hosts.length === 0)) {
    throw usage(
      'a certificate is either for a user or for a service',
      'say --user and perhaps --group for a user of the cluster',
      'say --service with a DNS name or an IP address, and --signer, for a service',
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
      'a name of a user or group is empty or not of plain characters',
      'leave out line breaks, control characters and spaces around the name',
    )
  }
  if (Array.from(user).length > LONGEST_COMMON_NAME) {
    throw usage(`the name of a user has at most ${LONGEST_COMMON_NAME} characters`)
  }
  const organizations = [...new Set(groups)]
  return {label: labelOf(user), subject: {commonName: user, organizations}, names: NO_NAMES, signer}
}

function forService({groups = [], signer}: Wish, hosts: readonly string[]): Kind {
  if (groups.length > 0) throw usage('groups are for users: --group goes with --user')
  const names = namesOfHosts(hosts)
  if (signer === undefined) {
    throw usage(
      'a certificate for a service needs --signer',
      'Kubernetes has no signer for services: name one that somebody runs in this cluster, as in "--signer example.com/services"',
      'kubernetes.io/kubelet-serving signs for nodes only',
    )
  }
  const [host = ''] = [...names.dns, ...names.ips]
  const commonName = host.length <= LONGEST_COMMON_NAME ? host : ''
  return {label: labelOf(host), subject: {commonName, organizations: []}, names, signer}
}

/** RSA keys may be used for enciphering too; whoever needs that says so. */
function usagesOf({usages, user}: Wish): string[] {
  const wanted = usages ?? ['digital signature', user === undefined ? 'server auth' : 'client auth']
  const unknown = wanted.find((one) => !isUsage(one))
  if (unknown !== undefined) {
    throw usage(
      `there is no usage ${JSON.stringify(unknown)}`,
      'usages are such as "digital signature", "client auth", "server auth", "key encipherment"',
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
    'leave it out and the signer chooses',
  )
}

/** Letters that file names and names of objects have in common. */
const labelOf = (text: string): string =>
  text
    .toLowerCase()
    .replaceAll(/[^a-z0-9.]+/g, '-')
    .replaceAll(/^[-.]+|[-.]+$/g, '')
    .slice(0, LONGEST_LABEL) || 'certificate'

/** For a request whose name was chosen: a second run would find the decision on the first. */
export const ASK_UNDER_OTHER_NAME: OutcomeHints = {
  CERTIFICATE_DENIED: ['a denied request stays denied: ask again under another name'],
  CERTIFICATE_FAILED: ['ask for something that the signer permits, under another name'],
}

/** The same name for the same wish and key, so that a second run finds what the first one asked for. */
export function requestName({label, ...wanted}: LabelledCertificate, pin: string): string {
  const hash = createHash('sha256')
    .update(JSON.stringify([wanted, pin]))
    .digest('hex')
  return `${label}-${hash.slice(0, 12)}`
}
