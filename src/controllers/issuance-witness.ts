import type {CertificateSigningRequest} from '../api/certificates.ts'
import type {ApiClient} from '../client/api-client.ts'
import {isWitness, witnessedHead, type SealedHead} from '../csr/log-head.ts'
import {nodeOfUser} from '../csr/node-names.ts'
import type {Clock} from '../runtime.ts'
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
  clock: Clock
}

const witnessOf = ({spec: {username = ''}}: Csr): string => {
  const node = nodeOfUser(username)
  return node === undefined ? `the user ${username}` : `the node ${node}`
}

/** In milliseconds: longer than another signer takes to show in its Lease that it has begun a log. */
const GRACE = 15_000

/**
 * Checks the heads that nodes hand in with their requests against the log of this process. The request itself is left alone: a
 * node cannot help it if the log was cut.
 */
export function checkWitnesses(
  csrs: Pick<Copy<Csr>, 'find'>,
  {issuances, isOthers, alarm, clock}: WitnessDeps,
): Reconcile {
  /** By name, the requests that were seen, and since when: each is seen again when it is approved and signed. */
  const seen = new Map<string, {uid: string | undefined; since: number; isDone: boolean}>()
  const replaced = new Set<string>()

  async function raise(witness: string, head: SealedHead, verdict: 'lost' | 'replaced') {
    const {chain, size, hash} = head
    // All nodes have seen the log that was replaced: it is enough to say that once.
    if (verdict === 'replaced' && replaced.has(chain)) return
    if (!alarm.isLost(witness, head)) return
    if (verdict === 'replaced') replaced.add(chain)
    const reason = `${witness} has seen a line that is not in this log`
    // To a log that is broken nothing is added: the alarm says so too.
    await issuances
      .note({decision: 'lost', reason, heads: [{chain, size, hash}]})
      .catch(() => undefined)
  }

  /** Returns how long to wait, in milliseconds, for more to be known. */
  async function check(csr: Csr, age: number): Promise<number> {
    const witness = witnessOf(csr)
    const head = witnessedHead(csr)
    const verdict = head ? await issuances.verdictOn(head) : 'unknown'
    if (verdict === 'there') alarm.isThere()
    if (head && (verdict === 'lost' || verdict === 'replaced')) await raise(witness, head, verdict)
    if (verdict !== 'unknown' || (head && isOthers(head.chain))) return 0
    if (head && age < GRACE) return GRACE - age
    alarm.isUnknown(witness)
    return 0
  }

  return async (name) => {
    const csr = await csrs.find(name)
    if (!csr) {
      seen.delete(name)
      return DONE
    }
    const {uid} = csr.metadata
    const now = clock.now().getTime()
    const earlier = seen.get(name)
    const state = earlier?.uid === uid && earlier ? earlier : {uid, since: now, isDone: false}
    seen.set(name, state)
    if (state.isDone) return DONE
    // A clock that was set back must not make it wait for longer.
    const wait = await check(csr, Math.abs(now - state.since))
    state.isDone = wait === 0
    return state.isDone ? DONE : {requeueAfter: wait}
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
