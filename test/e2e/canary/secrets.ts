import {createPrivateKey} from 'node:crypto'

/** Something that nobody but its owner may ever read. */
export interface Secret {
  name: string
  value: Buffer
}

/** So many letters of a secret in a row are not there by chance. */
const RUN = 9

/** In base64 the same bytes look different by where they begin; what lies beside them is cut off. */
const base64Forms = (value: Buffer): string[] =>
  [0, 1, 2].map((shift) => {
    const text = Buffer.concat([Buffer.alloc(shift), value]).toString('base64')
    return text.slice(shift === 0 ? 0 : 4, Math.floor(text.length / 4) * 4 - 4)
  })

/** How the secret may look where somebody has encoded it. */
const formsOf = (value: Buffer): string[] => {
  const base64 = base64Forms(value)
  const url = base64.map((text) => text.replaceAll('+', '-').replaceAll('/', '_'))
  return [value.toString('latin1'), value.toString('hex'), ...base64, ...url]
}

const runsOf = (text: string): string[] =>
  Array.from({length: Math.max(0, text.length - RUN + 1)}, (_, at) => text.slice(at, at + RUN))

const ENCODED = /[A-Za-z0-9+/]{40,}={0,2}/g
const LINE_ENDS = /\n|\\n/g

/** A text, what is encoded in it, and both with the lines of PEM put together. */
function unfolded(text: string): string {
  const decoded = (text.match(ENCODED) ?? []).map((one) =>
    Buffer.from(one, 'base64').toString('latin1'),
  )
  return [text, ...[text, ...decoded].map((one) => one.replaceAll(LINE_ENDS, ''))].join('\n')
}

/** The names of those secrets of which something is in the text. */
export function leaksIn(text: string, secrets: readonly Secret[]): string[] {
  const owners = new Map<string, string>()
  for (const {name, value} of secrets) {
    for (const form of formsOf(value)) for (const run of runsOf(form)) owners.set(run, name)
  }
  const found = runsOf(unfolded(text)).map((run) => owners.get(run))
  return [...new Set(found)].filter((name) => name !== undefined)
}

export const textSecret = (name: string, value: string): Secret => ({
  name,
  value: Buffer.from(value),
})

/** What is private in a private key: the rest of its file is in its certificate too. */
function keySecret(name: string, pem: string): Secret {
  const {d} = createPrivateKey(pem).export({format: 'jwk'})
  return {name, value: Buffer.from(d ?? '', 'base64url')}
}

const KEY = /-----BEGIN [A-Z ]*PRIVATE KEY-----[^-]+-----END [A-Z ]*PRIVATE KEY-----/g
const EMBEDDED = /client-key-data: (\S+)/g

/** Every private key in a text, those of kubeconfigs too. */
export function keysIn(name: string, text: string): Secret[] {
  const embedded = [...text.matchAll(EMBEDDED)].map(([, data]) =>
    Buffer.from(data ?? '', 'base64').toString(),
  )
  return [...text.matchAll(KEY)]
    .map(([pem]) => pem)
    .concat(embedded)
    .map((pem) => keySecret(`the key of ${name}`, pem))
}
