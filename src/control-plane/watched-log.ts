import type {ApiClient} from '../client/api-client.ts'
import {issuanceWitnessController} from '../controllers/issuance-witness.ts'
import {
  startController,
  type OnControllerError,
  type RunningController,
} from '../controllers/kernel/controller.ts'
import {FileIssuanceLog} from '../controllers/signing/file-issuance-log.ts'
import {LogAlarm} from '../controllers/signing/log-alarm.ts'
import {SharedHeads} from '../controllers/signing/shared-heads.ts'
import {formatHead} from '../csr/log-head.ts'
import type {Clock} from '../runtime.ts'

interface WatchedLogOptions {
  path: string
  /** By default beside the log. */
  keyPath?: string
  /** As for `FileIssuanceLog`. */
  takeTurn?: () => Promise<() => void>
  /** The command that checks it. */
  check: string
  /** The name of this machine. */
  server: string
  clock: Clock
  log: (line: string) => void
}

/** What a server shows of its issuance log. */
export interface IssuanceState {
  /** Its newest line. */
  head?: string
  problem?: string
}

/** The issuance log of a process, with those who notice if it is cut: the Lease of the signers, and the nodes. */
export class WatchedLog {
  readonly issuances: FileIssuanceLog
  readonly alarm: LogAlarm
  /** For the Lease by which the signers agree who signs. */
  readonly heads: SharedHeads
  readonly #clock: Clock

  constructor({path, keyPath, takeTurn, check, server, clock, log}: WatchedLogOptions) {
    this.#clock = clock
    this.issuances = new FileIssuanceLog(path, clock, keyPath, takeTurn)
    this.alarm = new LogAlarm(log, check, clock)
    this.heads = new SharedHeads({server, own: () => this.issuances.sealedHead, clock})
  }

  /** To be called when this process begins to sign: its next line says where the other logs ended. */
  takeOver(): void {
    this.issuances.takeOver(this.heads.known, (head) =>
      this.alarm.isLost('the Lease of the signers', head),
    )
  }

  /** Checks from `begin` on what nodes hand in. */
  startWitness(
    reader: Pick<ApiClient, 'csrs'>,
    onError: OnControllerError,
    begin?: Promise<void>,
  ): RunningController {
    const {issuances, alarm, heads} = this
    const isOthers = (chain: string) => heads.isOthers(chain)
    const deps = {issuances, alarm, isOthers, clock: this.#clock}
    return startController(issuanceWitnessController(reader, deps), onError, begin)
  }

  get state(): IssuanceState {
    const {head} = this.issuances
    const {problem} = this.alarm
    return {...(head && {head: formatHead(head)}), ...(problem !== undefined && {problem})}
  }
}
