const LONGEST = 2000

/** Text from the other side, safe on a terminal: no control characters, and not endless. */
export function printable(text: string): string {
  // eslint-disable-next-line no-control-regex -- control characters are what this removes
  const plain = text.replace(/[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u2028\u2029]+/g, ' ')
  return plain.length > LONGEST ? `${plain.slice(0, LONGEST)}…` : plain
}
