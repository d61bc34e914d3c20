import {NODE_PREFIX, NODES} from '../../csr/node-names.ts'
import {humanDuration} from '../../server/table/human-duration.ts'

/** Control characters, and those that change the direction of text or cannot be seen. */
const INVISIBLE = /[\p{C}\p{Zl}\p{Zp}\u00ad\u115f\u1160\u3164\uffa0]/gu
const PLAIN = /^[\w:@./*+=-]+$/
/** What the subjects of all nodes have in common; a table without room leaves it out. */
export const NODE_SUBJECT = [`O=${NODES}`, NODE_PREFIX]

const LONGEST = 300
const MOST_NAMED = 5

const codePoint = (character: string): string =>
  `U+${(character.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0')}`

const escaped = (character: string): string =>
  String.raw`\u{${(character.codePointAt(0) ?? 0).toString(16)}}`

const cut = (text: string): string => (text.length > LONGEST ? `${text.slice(0, LONGEST)}…` : text)

/** Text from a request or the server, on one line. Invisible characters are shown as \u{…}, so that they cannot move the cursor or reverse the line. */
export const shown = (text: string): string =>
  cut(text)
    .replaceAll(/[\t\n]/g, ' ')
    .replaceAll(INVISIBLE, escaped)

/**
 * A value that the requester chose: in quotes if it could be mistaken for something else, such as `ada, O=system:masters`, and
 * with a note about letters that only look like common ones.
 */
export function shownValue(text: string): string {
  if (PLAIN.test(text) && text.length <= LONGEST) return text
  const quoted = cut(text)
    .replaceAll(/["\\]/g, String.raw`\$&`)
    .replaceAll(INVISIBLE, escaped)
  const foreign = [...new Set(text.match(/[^\0-\x7f]/gu))].map(codePoint)
  const more = foreign.length > MOST_NAMED ? ', …' : ''
  const note =
    foreign.length === 0 ? '' : ` (with ${foreign.slice(0, MOST_NAMED).join(', ')}${more})`
  return `"${quoted}"${note}`
}

export const shownList = (texts: readonly string[], none = '<none>'): string =>
  texts.length === 0 ? none : texts.map(shownValue).join(', ')

/** The requested lifetime, or `<signer default>`. */
export const requestedDuration = (seconds: number | null): string =>
  seconds === null ? '<none>' : humanDuration(seconds * 1000)
