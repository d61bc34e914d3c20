import type {Readable} from 'node:stream'

export interface WatchedObject {
  kind: string
  apiVersion: string
  metadata: {
    name?: string
    uid?: string
    resourceVersion: string
    annotations?: Record<string, string>
  }
  [field: string]: unknown
}

export interface WatchEvent {
  type: string
  object: WatchedObject
}

const TIMEOUT = 15_000

/** The events of a watch, to wait for one at a time. */
export class WatchStream {
  readonly seen: WatchEvent[] = []
  readonly #end: () => void
  #ended = false
  #wake: () => void = () => undefined

  constructor(body: Readable, end: () => void) {
    this.#end = end
    let rest = ''
    body.setEncoding('utf8').on('data', (text: string) => {
      const lines = (rest + text).split('\n')
      rest = lines.pop() ?? ''
      this.seen.push(...lines.map((line) => JSON.parse(line) as WatchEvent))
      this.#wake()
    })
    body.on('error', () => undefined)
    body.on('close', () => {
      this.#ended = true
      this.#wake()
    })
  }

  /** The first event, of those seen or to come, that is wanted. */
  async find(wanted: (event: WatchEvent) => boolean): Promise<WatchEvent> {
    const deadline = performance.now() + TIMEOUT
    for (;;) {
      const found = this.seen.find(wanted)
      if (found) return found
      const left = deadline - performance.now()
      if (this.#ended || left <= 0) {
        throw new Error(
          `no such event, only:\n${this.seen.map((one) => JSON.stringify(one)).join('\n')}`,
        )
      }
      await this.#more(left)
    }
  }

  /** What reflectors take for "synced": all there was has been sent. */
  initialEvents = async (): Promise<WatchEvent[]> => {
    const bookmark = await this.find(
      ({type, object}) =>
        type === 'BOOKMARK' &&
        object.metadata.annotations?.['k8s.io/initial-events-end'] === 'true',
    )
    return this.seen.slice(0, this.seen.indexOf(bookmark))
  }

  close(): void {
    this.#end()
  }

  #more(milliseconds: number): Promise<void> {
    return new Promise((resolve) => {
      const timer = setTimeout(resolve, milliseconds)
      this.#wake = () => {
        clearTimeout(timer)
        resolve()
      }
    })
  }
}
