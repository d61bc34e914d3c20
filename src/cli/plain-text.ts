import {UNPRINTABLE} from '../client/printable.ts'

/** The colours that we paint with: see `terminal.ts`. */
// eslint-disable-next-line no-control-regex -- a colour begins with a control character
const COLOUR = /(\u001b\[(?:0|1|2|22|3[0-9])m)/

const escaped = (character: string): string =>
  String.raw`\u{${(character.codePointAt(0) ?? 0).toString(16)}}`

/**
 * Text as it goes to a terminal, whoever it is from: what would move the cursor, turn a line around or hide is shown as
 * `\u{…}`. Everything that this program says passes through here, so that no message has to think of it.
 */
export const plainText = (text: string): string => text.replaceAll(UNPRINTABLE, escaped)

/** As `plainText`, for what is painted already. */
export const paintedText = (text: string, hasColours: boolean): string =>
  hasColours
    ? text
        .split(COLOUR)
        .map((part, index) => (index % 2 === 1 ? part : plainText(part)))
        .join('')
    : plainText(text)
