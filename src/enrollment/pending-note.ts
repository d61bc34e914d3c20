import type {CertificateSigningRequest} from '../api/certificates.ts'
import {requestWords} from '../csr/pairing-words.ts'
import {approveCommand, nameOf} from './outcome.ts'

export interface PendingNoteOptions {
  /** The CAs by which this machine knows the cluster, as PEM. */
  ca: string | undefined
  /** The Node that already has the name, and the command that lets this machine take its place. */
  taken?: {node: string; allow: string} | undefined
}

/** What the person at a machine is told while its request waits for the person who approves it. Never fails: nobody waits for it. */
export async function pendingNote(
  csr: CertificateSigningRequest,
  {ca, taken}: PendingNoteOptions,
): Promise<string> {
  const words = (await requestWords(csr, ca).catch(() => undefined)) ?? '<unreadable>'
  const approve = approveCommand(nameOf(csr))
  const told = taken
    ? [
        `waiting for an operator: there is already a Node "${taken.node}"`,
        `to let this machine take its place, run "${taken.allow}" on the control plane`,
        `to decide on this request alone, "${approve}"`,
      ]
    : ['waiting for approval', `on the control plane, run "${approve}"`]
  return [...told, `it must show the same pairing words: ${words}`].join('\n')
}
