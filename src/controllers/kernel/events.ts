import {createHash} from 'node:crypto'
import type {CertificateSigningRequest} from '../../api/certificates.ts'
import type {ObjectReference} from '../../api/core.ts'
import type {ApiClient} from '../../client/api-client.ts'
import type {CallOptions} from '../../client/resource-client.ts'
import {hasCode} from '../../errors.ts'
import {type Clock, formatTimestamp} from '../../runtime.ts'

export interface Happening {
  type: 'Normal' | 'Warning'
  /** A word in CamelCase. */
  reason: string
  message: string
}

const LONGEST_MESSAGE = 1024
const LONGEST_PREFIX = 200
/** How many reported Events are remembered, so that they are not sent again. */
const MOST_REMEMBERED = 10_000

export const csrReference = ({metadata}: CertificateSigningRequest): ObjectReference => ({
  apiVersion: 'certificates.k8s.io/v1',
  kind: 'CertificateSigningRequest',
  ...(metadata.name === undefined ? {} : {name: metadata.name}),
  ...(metadata.uid === undefined ? {} : {uid: metadata.uid}),
})

/** The same occurrence has the same name, so a server stores it once, however often it is reported. */
function nameOf(about: ObjectReference, component: string, {reason, message}: Happening): string {
  const {name = '', uid = ''} = about
  const readable = name
    .toLowerCase()
    .replaceAll(/[^-a-z0-9]+/g, '-')
    .slice(0, LONGEST_PREFIX)
    .replaceAll(/^-+|-+$/g, '')
  const digest = createHash('sha256')
    .update(JSON.stringify([name, uid, component, reason, message]))
    .digest('hex')
  return `${readable === '' ? 'event' : readable}.${digest.slice(0, 16)}`
}

/** Reports once, for people, what a controller has done or not done with an object. */
export class EventReporter {
  readonly #client: Pick<ApiClient, 'events'>
  readonly #component: string
  readonly #clock: Clock
  readonly #told = new Set<string>()

  constructor(client: Pick<ApiClient, 'events'>, component: string, clock: Clock) {
    this.#client = client
    this.#component = component
    this.#clock = clock
  }

  /** Never fails: an Event that cannot be written must not stop a controller. Returns false if it was not written. */
  async report(
    about: ObjectReference,
    happening: Happening,
    options: CallOptions = {},
  ): Promise<boolean> {
    const name = nameOf(about, this.#component, happening)
    if (this.#told.has(name)) return true
    const now = formatTimestamp(this.#clock.now())
    try {
      await this.#client.events.create(
        {
          metadata: {name, namespace: about.namespace ?? 'default'},
          involvedObject: about,
          type: happening.type,
          reason: happening.reason,
          message: happening.message.slice(0, LONGEST_MESSAGE),
          source: {component: this.#component},
          reportingComponent: this.#component,
          firstTimestamp: now,
          lastTimestamp: now,
          count: 1,
        },
        options,
      )
    } catch (error) {
      if (!hasCode(error, 'ALREADY_EXISTS')) return false
    }
    if (this.#told.size >= MOST_REMEMBERED) this.#told.clear()
    this.#told.add(name)
    return true
  }
}
