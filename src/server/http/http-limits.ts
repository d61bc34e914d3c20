import {memoryLimits, type MemoryLimits} from '../limits/memory-budget.ts'

export interface HttpLimits extends Pick<
  MemoryLimits,
  'connections' | 'exchangeBytes' | 'unsentBytes'
> {
  bodyBytes: number
  /** How long a caller may take to send its body. */
  bodyMilliseconds: number
  headerMilliseconds: number
  /** How long a connection without a request stays open. */
  idleMilliseconds: number
  handshakeMilliseconds: number
  /** How long a caller may leave a response unread. */
  stallMilliseconds: number
  streamsPerConnection: number
  /** How long an HTTP/2 caller may be silent before it is pinged, and how long it has to reply. */
  silenceMilliseconds: number
  answerMilliseconds: number
  /** How long a connection is silent before TCP asks whether the other side is still there. */
  keepAliveMilliseconds: number
  /** Pings, settings and abandoned requests on one HTTP/2 connection: how many at once, and how many more each second. */
  overheadFrames: number
  overheadFramesPerSecond: number
}

/** As in kube-apiserver, if it has the limit. */
export const DEFAULT_HTTP_LIMITS: HttpLimits = {
  ...memoryLimits(),
  bodyBytes: 3 * 1024 * 1024,
  bodyMilliseconds: 60_000,
  headerMilliseconds: 32_000,
  idleMilliseconds: 90_000,
  handshakeMilliseconds: 10_000,
  stallMilliseconds: 30_000,
  streamsPerConnection: 250,
  // Clients in Go send their own every 30 s.
  silenceMilliseconds: 45_000,
  answerMilliseconds: 15_000,
  keepAliveMilliseconds: 60_000,
  overheadFrames: 500,
  overheadFramesPerSecond: 30,
}
