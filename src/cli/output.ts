import {TrustError} from '../errors.ts'

/** How people see a result. `json` and `yaml` print the result itself. */
export interface View<Result> {
  table: (result: Result) => string | Promise<string>
  /** One name a line, as kubectl's `-o name`; absent where the result has no name. */
  name?: (result: Result) => string[]
}

/** The text of a result in a format. JSON is exactly one object. */
export async function render<Result>(
  result: Result,
  format: string,
  {table, name}: View<Result>,
): Promise<string> {
  switch (format) {
    case 'json':
      return `${JSON.stringify(result, undefined, 2)}\n`
    case 'yaml': {
      const {stringify} = await import('yaml')
      return stringify(JSON.parse(JSON.stringify(result)), {lineWidth: 0})
    }
    case 'name':
      if (name)
        return name(result)
          .map((line) => `${line}\n`)
          .join('')
      throw new TrustError('USAGE', 'the result of this command has no names', {
        hints: ['use --output table, json or yaml'],
      })
    default:
      return await table(result)
  }
}
