export interface HttpLimits {
  bodyBytes: number
  /** How long a caller may take to send its body. */
  bodyMilliseconds: number
  headerMilliseconds: number
  /** How long a connection without a request stays open. */
  idleMilliseconds: number
  handshakeMilliseconds: number
  /** How long a caller may leave an answer unread. */
  stallMilliseconds: number
  /** Handshakes under way included. */
  connections: number
  streamsPerConnection: number
}

/** As kube-apiserver's, where it has them. */
export const DEFAULT_HTTP_LIMITS: HttpLimits = {
  bodyBytes: 3 * 1024 * 1024,
  bodyMilliseconds: 60_000,
  headerMilliseconds: 32_000,
  idleMilliseconds: 90_000,
  handshakeMilliseconds: 10_000,
  stallMilliseconds: 30_000,
  connections: 10_000,
  streamsPerConnection: 250,
}
