import type {CertificateSigningRequest} from '../api/certificates.ts'
import type {ApiClient} from '../client/api-client.ts'
import {isWitness, witnessedHead} from '../csr/log-head.ts'
import {nodeOfUser} from '../csr/node-names.ts'
import {follow, type ControllerSpec, type Copy} from './kernel/controller.ts'
import {DONE, type Reconcile} from './kernel/work-queue.ts'
import type {FileIssuanceLog} from './signing/file-issuance-log.ts'
import type {LogAlarm} from './signing/log-alarm.ts'

type Csr = CertificateSigningRequest

export interface WitnessDeps {
  issuances: Pick<FileIssuanceLog, 'verdictOn' | 'note'>
  /** Whether another signer writes the log that begins with this line: it answers for it. */
  isOthers: (chain: string) => boolean
  alarm: LogAlarm
}

const witnessOf = ({spec: {username = ''}}: Csr): string => {
  const node = nodeOfUser(username)
  return node === undefined ? `the user ${username}` : `the node ${node}`
}

/**
 * Checks the heads that nodes hand in with their requests against the log of this process. The request itself is left alone: a
 * node cannot help it if the log was cut.
 */
export function checkWitnesses(
  csrs: Pick<Copy<Csr>, 'find'>,
  {issuances, isOthers, alarm}: WitnessDeps,
): Reconcile {
  /** By name, the uids of the requests that were checked: each is seen again when it is approved and signed. */
  const checked = new Map<string, string | undefined>()

  const replaced = new Set<string>()

  async function check(csr: Csr): Promise<void> {
    const witness = witnessOf(csr)
    const head = witnessedHead(csr)
    if (!head) return alarm.isUnknown(witness)
    const verdict = await issuances.verdictOn(head)
    if (verdict === 'there') return alarm.isThere()
    if (verdict === 'unknown' && !isOthers(head.chain)) return alarm.isUnknown(witness)
    if (verdict !== 'lost' && verdict !== 'replaced') return
    // All nodes have seen the log that was replaced: it is enough to say that once.
    if (verdict === 'replaced' && replaced.has(head.chain)) return
    if (!alarm.isLost(witness, head)) return
    if (verdict === 'replaced') replaced.add(head.chain)
    const {chain, size, hash} = head
    const reason = `${witness} has seen a line that is not in this log`
    await issuances.note({decision: 'lost', reason, heads: [{chain, size, hash}]})
  }

  return async (name) => {
    const csr = await csrs.find(name)
    if (!csr) checked.delete(name)
    else if (!checked.has(name) || checked.get(name) !== csr.metadata.uid) {
      await check(csr)
      checked.set(name, csr.metadata.uid)
    }
    return DONE
  }
}

/** Runs wherever a log is written, whoever leads: each signer can read only its own log. */
export function issuanceWitnessController(
  reader: Pick<ApiClient, 'csrs'>,
  deps: WitnessDeps,
): ControllerSpec {
  const csrs = follow(reader.csrs, (csr, key) => (isWitness(csr) ? [key] : []))
  return {name: 'issuance-witness', sources: [csrs], reconcile: checkWitnesses(csrs, deps)}
}
