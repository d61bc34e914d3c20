import {TrustError} from '../errors.ts'
import {paintedText, plainLine} from './plain-text.ts'
import {hasColours} from './terminal.ts'

/** How a result is shown to people. `json` and `yaml` print the result itself. */
export interface View<Result> {
  table: (result: Result) => string | Promise<string>
  /** One name per line, as kubectl's `-o name`; absent if the result has no name. */
  name?: (result: Result) => string[]
}

/** Characters that change the direction of text or are invisible. JSON can escape all of them, so nothing is lost. */
const INVISIBLE = /[\u007f-\u009f\u00ad\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff]/g

const escaped = (text: string): string =>
  text.replaceAll(
    INVISIBLE,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  )

export const toJson = (result: unknown, indent?: number): string =>
  escaped(JSON.stringify(result, undefined, indent))

export async function toYaml(result: unknown): Promise<string> {
  const {stringify} = await import('yaml')
  const value: unknown = JSON.parse(JSON.stringify(result))
  const text = stringify(value, {lineWidth: 0})
  // Only a double-quoted string can have escapes in YAML.
  return text === escaped(text)
    ? text
    : escaped(stringify(value, {lineWidth: 0, defaultStringType: 'QUOTE_DOUBLE'}))
}

/** The text of a result in a format. JSON is exactly one object. Nothing in it can move a terminal's cursor. */
export async function render<Result>(
  result: Result,
  format: string,
  {table, name}: View<Result>,
): Promise<string> {
  switch (format) {
    case 'json':
      return `${toJson(result, 2)}\n`
    case 'yaml':
      return await toYaml(result)
    case 'name':
      if (name)
        return name(result)
          .map((line) => `${plainLine(line)}\n`)
          .join('')
      throw new TrustError(
        'USAGE',
        '--output name is not available: the result of this command has no names',
        {
          hints: ['use --output table, json or yaml'],
        },
      )
    default:
      return paintedText(await table(result), hasColours(process.stdout))
  }
}
