import assert from 'node:assert/strict'

/** Lines with single spaces between their words. */
export const lines = (text: string): string[] =>
  text
    .split('\n')
    .map((line) => line.trim().replaceAll(/\s+/g, ' '))
    .filter(Boolean)

const AGE = String.raw`(\d+[smhdy])+`
const TIME = String.raw`\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ`

const escape = (text: string): string => text.replaceAll(/[.*+?^${}()|[\]\\/]/g, String.raw`\$&`)

/** A pattern for a whole line, where AGE and TIME stand for what differs from run to run. */
export const pattern = (line: string): RegExp =>
  new RegExp(
    `^${escape(line)
      .replaceAll(/\bAGE\b/g, AGE)
      .replaceAll(/\bTIME\b/g, TIME)}$`,
  )

/** Every wanted line is there, in whatever order. */
export function assertLines(text: string, wanted: string[]): void {
  const got = lines(text)
  for (const line of wanted) assert.ok(got.includes(line), `no line "${line}" in:\n${text}`)
}

/** Every wanted text is somewhere in it, however many spaces are between its words. */
export function assertContains(text: string, wanted: string[]): void {
  const got = text.replaceAll(/\s+/g, ' ')
  for (const part of wanted) assert.ok(got.includes(part), `no "${part}" in:\n${text}`)
}
