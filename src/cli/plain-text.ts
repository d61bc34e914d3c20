import {UNPRINTABLE} from '../client/printable.ts'

/** The colours that this program uses: see `terminal.ts`. */
// eslint-disable-next-line no-control-regex -- a colour begins with a control character
const COLOUR = /(\u001b\[(?:0|1|2|22|3[0-9])m)/

const escaped = (character: string): string =>
  String.raw`\u{${(character.codePointAt(0) ?? 0).toString(16)}}`

/**
 * Makes text safe for a terminal: characters that move the cursor, change the direction of text or are invisible are shown as
 * `\u{…}`. Everything that this program prints passes through here, so that no message has to care.
 */
export const plainText = (text: string): string => text.replaceAll(UNPRINTABLE, escaped)

/** Like `plainText`, for text that is one line of a log or a list: a line break in it would look like another entry. */
export const plainLine = (text: string): string => plainText(text).replaceAll(/[\t\n]/g, escaped)

/** Like `plainText`, for text that is already coloured. */
export const paintedText = (text: string, hasColours: boolean): string =>
  hasColours
    ? text
        .split(COLOUR)
        .map((part, index) => (index % 2 === 1 ? part : plainText(part)))
        .join('')
    : plainText(text)
