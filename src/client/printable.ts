const LONGEST = 2000

/** Characters that move a terminal's cursor, change the direction of text or are invisible; not tabs and line feeds. */
export const UNPRINTABLE =
  // eslint-disable-next-line no-control-regex -- control characters are what this finds
  /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u00ad\u061c\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff]/g

const UNPRINTABLE_RUN = new RegExp(`${UNPRINTABLE.source}+`, 'g')

/** Text from a server, made safe for a terminal: nothing unprintable, and limited in length. */
export function printable(text: string): string {
  const plain = text.slice(0, 2 * LONGEST).replaceAll(UNPRINTABLE_RUN, ' ')
  return plain.length > LONGEST ? `${plain.slice(0, LONGEST)}…` : plain
}

const SAFE_WORD = /^[\w.@%+:/-]+$/

/** A word of a command line that can be copied into a shell. */
export const shellWord = (word: string): string =>
  SAFE_WORD.test(word) ? word : `'${printable(word).replaceAll("'", String.raw`'\''`)}'`
