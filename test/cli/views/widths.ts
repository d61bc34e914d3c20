import assert from 'node:assert/strict'
import {stripVTControlCharacters} from 'node:util'

interface Table<Result> {
  table: (result: Result) => string | Promise<string>
}

/** What a view prints of a result, of which only what it shows is given. */
export const shows = <Result>({table}: Table<Result>, result: unknown) => table(result as Result)

/** Prints as on a terminal of this width, without its colours. */
export async function atWidth(
  width: number,
  print: () => string | Promise<string>,
): Promise<string> {
  const {isTTY, columns} = process.stdout
  Object.assign(process.stdout, {isTTY: true, columns: width})
  try {
    return stripVTControlCharacters(await print())
  } finally {
    Object.assign(process.stdout, {isTTY, columns})
  }
}

/** Lines that people copy are not broken. */
const isToCopy = (line: string): boolean => /^(?:Use it:| *trustadm )/.test(line)

/** A test of each view on the usual terminals. */
export function testWidths(views: Record<string, () => string | Promise<string>>): void {
  for (const [name, print] of Object.entries(views)) {
    for (const width of [80, 120]) {
      it(`fits ${width} columns: ${name}`, async () => {
        const text = await atWidth(width, print)
        const long = text.split('\n').filter((line) => line.length > width && !isToCopy(line))
        assert.deepEqual(long, [])
        assert.ok(text.length > 40)
      })
    }
  }
}
