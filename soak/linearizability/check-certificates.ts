/** A line of an issuance log. */
export interface Issued {
  uid: string
  commonName?: string | undefined
  pin?: string | undefined
  fingerprint?: string | undefined
}

/** A certificate that somebody read from a request. */
export interface Published {
  uid: string
  fingerprint: string
}

export interface Verdict {
  /** Lines of the logs. */
  issued: number
  /** Of those, how many certificates nobody ever got: the signer ended, or lost the write to another one. */
  unpublished: number
  faults: string[]
}

function grouped<T>(items: readonly T[], keyOf: (item: T) => string, valueOf: (item: T) => string) {
  const groups = new Map<string, Set<string>>()
  for (const item of items)
    groups.set(keyOf(item), (groups.get(keyOf(item)) ?? new Set()).add(valueOf(item)))
  return [...groups]
}

/**
 * Whether each name has one key, each request one certificate at most, and each certificate that was published a line in a log. A request may
 * have several lines, of which one at most was published.
 */
export function checkCertificates(
  issued: readonly Issued[],
  published: readonly Published[],
): Verdict {
  const named = issued.filter(({commonName}) => commonName !== undefined)
  const holders = grouped(
    named,
    ({commonName = ''}) => commonName,
    ({pin = ''}) => pin,
  )
  const given = grouped(
    published,
    ({uid}) => uid,
    ({fingerprint}) => fingerprint,
  )
  const lineOf = ({uid, fingerprint = ''}: Issued) => `${uid} ${fingerprint}`
  const logged = new Set(issued.map(lineOf))
  const wasPublished = new Set(published.map(lineOf))
  const unlogged = [...wasPublished].filter((line) => !logged.has(line))
  return {
    issued: issued.length,
    unpublished: issued.filter((one) => !wasPublished.has(lineOf(one))).length,
    faults: [
      ...holders
        .filter(([, keys]) => keys.size > 1)
        .map(([who, keys]) => `${keys.size} keys got a certificate for ${who}`),
      ...given
        .filter(([, certificates]) => certificates.size > 1)
        .map(([uid, {size}]) => `${size} certificates were published for the request ${uid}`),
      ...unlogged.map((line) => `a certificate was published, and is in no log: ${line}`),
    ],
  }
}
