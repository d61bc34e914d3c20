import {formatSealed, parseSealed, type SealedHead} from '../csr/log-head.ts'
import {readFileIfThere, writeFileSafely} from '../fs/files.ts'
import {nodeFile} from './node-files.ts'

/** What a node keeps of the issuance log, so that a log that was cut is noticed at its next renewal. */
export interface HeadWitness {
  /** What it got with its last certificate. */
  seen(): Promise<SealedHead | undefined>
  /** Keeps what it got with a new one. If a signer gives none, the old one stays. */
  keep(head: SealedHead | undefined): Promise<void>
}

const MOST_BYTES = 1024

/**
 * In a file of its own. A head stays true whatever happens to the certificate that it came with, so they need not change together, and
 * no failure with it is one of the renewal.
 */
export function headWitness(dir: string): HeadWitness {
  const file = nodeFile(dir, 'issuanceHead')
  return {
    async seen() {
      const content = await readFileIfThere(file, {maxBytes: MOST_BYTES}).catch(() => undefined)
      return parseSealed(content?.toString().trim())
    },
    async keep(head) {
      if (!head) return
      await writeFileSafely(file, `${formatSealed(head)}\n`).catch(() => undefined)
    },
  }
}
