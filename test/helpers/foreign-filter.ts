import {Transform} from 'node:stream'

interface Marked {
  metadata?: {name?: string; annotations?: Record<string, string>; managedFields?: object}
  spec?: {extra?: Record<string, string[]>}
}
interface Answer extends Marked {
  /** Of a list. */
  items?: Marked[]
  /** Of an event. */
  object?: Answer
  /** Of a table. */
  rows?: {object?: Marked}[]
}

/** Where a server of trustadm adds notes of its own: its Lease, and requests that it has received or signed. */
const NOTED = /\/(?:leases|certificatesigningrequests)(?:[/?]|$)/
const OWN_NOTE = /^trustadm\.io\/(?:caller-address|caller-key|issuance-head)$/

export const hasNotes = (path: string): boolean => NOTED.test(path)

/** Takes the notes of the server out of what it returns as JSON: a document, or a line for each event of a watch. */
export function withoutNotes(): Transform {
  let rest = ''
  return new Transform({
    transform(chunk: Buffer, _, done) {
      const lines = (rest + chunk.toString('latin1')).split('\n')
      rest = lines.pop() ?? ''
      for (const line of lines) this.push(cleaned(line) + '\n', 'latin1')
      done()
    },
    flush(done) {
      this.push(cleaned(rest), 'latin1')
      done()
    },
  })
}

function cleaned(text: string): string {
  if (!text.startsWith('{')) return text
  const answer = JSON.parse(text) as Answer
  clean(answer)
  return JSON.stringify(answer)
}

function clean(answer: Answer): void {
  const {items = [], object, rows = []} = answer
  for (const one of [answer, ...items, ...rows.map((row) => row.object ?? {})]) cleanObject(one)
  if (object) clean(object)
}

function cleanObject({metadata = {}, spec = {}}: Marked): void {
  delete metadata.managedFields
  // Kubernetes has no annotations on the Leases of its servers.
  if (metadata.name?.startsWith('apiserver-')) delete metadata.annotations
  for (const notes of [metadata.annotations, spec.extra]) {
    for (const key of Object.keys(notes ?? {})) if (OWN_NOTE.test(key)) delete notes?.[key]
  }
}
