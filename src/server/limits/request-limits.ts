import type {CallerGroup} from '../kernel/users.ts'

export interface RequestLimits {
  /** Requests being worked on, from when their body is there. */
  inFlight: number
  inFlightPerIdentity: number
  /** Requests that wait to be worked on. */
  waitingPerIdentity: number
  waitingPerGroup: number
  waitMilliseconds: number
  /** For all callers without credentials, apart from what the others have. */
  anonymousInFlight: number
  watches: number
  watchesPerIdentity: number
  anonymousWatches: number
  /** Bodies that are coming in or being worked on. */
  uploadBytes: number
  uploadBytesPerIdentity: number
  anonymousUploadBytes: number
  /** Long answers that their callers have not read yet. */
  answerBytes: number
  answerBytesPerIdentity: number
  anonymousAnswerBytes: number
  /** Of one address, behind which a whole data centre may be joining. */
  anonymousPerSecond: number
  anonymousBurst: number
  /** Credentials of one address that were refused: whoever guesses has to wait. */
  refusedPerSecond: number
  refusedBurst: number
}

const MIB = 1024 * 1024

export const DEFAULT_LIMITS: RequestLimits = {
  inFlight: 600,
  inFlightPerIdentity: 200,
  waitingPerIdentity: 100,
  waitingPerGroup: 2000,
  waitMilliseconds: 5000,
  anonymousInFlight: 400,
  watches: 12_000,
  watchesPerIdentity: 2000,
  anonymousWatches: 50,
  uploadBytes: 32 * MIB,
  uploadBytesPerIdentity: 12 * MIB,
  anonymousUploadBytes: 4 * MIB,
  answerBytes: 48 * MIB,
  answerBytesPerIdentity: 24 * MIB,
  anonymousAnswerBytes: 16 * MIB,
  anonymousPerSecond: 1000,
  anonymousBurst: 2000,
  refusedPerSecond: 20,
  refusedBurst: 100,
}

type Parts = Record<CallerGroup, number>

/** Half of the slots is for everybody; of the rest each group has a part that nobody else can take. */
export const REQUEST_RESERVES: Parts = {
  nodes: 1 / 8,
  people: 1 / 8,
  serviceAccounts: 1 / 8,
  tokens: 1 / 8,
}

/** A fleet has far more watches than all others together; a token needs one for a short time. */
export const WATCH_SHARES: Parts = {
  nodes: 10 / 12,
  people: 0.5 / 12,
  serviceAccounts: 1 / 12,
  tokens: 0.5 / 12,
}

/** Of bodies that come in, and of answers that go out. */
export const MEMORY_SHARES: Parts = {
  nodes: 1 / 4,
  people: 1 / 4,
  serviceAccounts: 1 / 4,
  tokens: 1 / 4,
}
