import {join} from 'node:path'
import {parseCertificate, type Certificate} from '../pki/certificate.ts'
import {every, type Clock} from '../runtime.ts'
import type {Live} from '../trust/live.ts'
import type {Trust} from '../trust/trust.ts'
import {ALL_LEAVES, openStore} from './certificates.ts'
import {certDirOf, type Plane} from './config/plane.ts'
import {planeCommand} from './plane-command.ts'

type Dates = Pick<Trust, 'bundles' | 'serving'>

/** Certificates that must be valid, as read from a file. */
interface Dated {
  what: string
  /** One of these is enough: during a rotation a CA is one of several. */
  certificates: readonly Certificate[]
  renewal: string
}

const isCurrent = ({notBefore, notAfter}: Certificate, now: Date): boolean =>
  notBefore <= now && now <= notAfter

/** Whether the certificates have expired or are not valid yet, and what to do. */
function problemOf({what, certificates, renewal}: Dated, now: Date): string[] {
  const [first] = certificates
  if (!first || certificates.some((one) => isCurrent(one, now))) return []
  const {notBefore, notAfter} = first
  const dates = `valid from ${notBefore.toISOString()} to ${notAfter.toISOString()}`
  return now > notAfter
    ? [`${what} has expired (${dates}): ${renewal}`]
    : [`${what} is not valid yet (${dates}): check the clock of this machine, ${now.toISOString()}`]
}

function datedOf(plane: Plane, {bundles, serving}: Dates): Dated[] {
  const leaf = ALL_LEAVES.find(({id}) => id === 'apiserver')
  const location = leaf ? openStore(plane)(leaf.place).location : ''
  return [
    {
      what: `the CA in ${join(certDirOf(plane), 'ca.crt')}`,
      certificates: bundles['api-server'].certificates,
      renewal: 'all certificates that it signed are refused; replace the CA',
    },
    {
      what: `the serving certificate in ${location}`,
      certificates: [parseCertificate(serving.certificate)],
      renewal: `run "${planeCommand(plane.dir, 'certificate renew apiserver')}"`,
    },
  ]
}

const LOOK_EVERY = 60_000

/** Checks the dates while the server runs. */
export interface ValidityWatch {
  /** For readiness: throws if clients cannot use the server. */
  check(): void
  stop(): void
}

export function watchValidity(
  plane: Plane,
  trust: Live<Dates>,
  {clock, log}: {clock: Clock; log: (line: string) => void},
): ValidityWatch {
  let told = ''
  let dated = datedOf(plane, trust.current)
  /** Why clients cannot use the server at this time, one sentence for each certificate. */
  const problems = () => {
    const now = clock.now()
    return dated.flatMap((one) => problemOf(one, now))
  }
  /** Logs what has changed since the last time. */
  const look = () => {
    const found = problems()
    if (found.length === 0 && told !== '') log('the certificates are valid again')
    if (found.join() !== told) for (const problem of found) log(`error: ${problem}`)
    told = found.join()
  }
  const stop = every(LOOK_EVERY, look)
  const leave = trust.subscribe((changed) => {
    dated = datedOf(plane, changed)
    look()
  })
  look()
  return {
    check() {
      const found = problems()
      if (found.length > 0) throw new Error(found.join('; '))
    },
    stop() {
      leave()
      stop()
    },
  }
}
