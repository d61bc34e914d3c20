/** What could not be found out, and why. */
export interface Unknown {
  unknown: string
}

export const isUnknown = (fact: object): fact is Unknown => 'unknown' in fact
