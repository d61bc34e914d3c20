const KIB = 1024
const MIB = 1024 * KIB

/** In bytes: what the server keeps to under any flood, apart from the objects that are stored. */
export const DEFAULT_MEMORY = 400 * MIB
/** The program, the pages of the store's file that it has mapped, and the smallest heap that it works in. */
const PROGRAM = 195 * MIB
/** Measured under a flood: garbage that is not collected yet and gaps between what is alive, for each byte that is used. */
const WASTE = 0.6
/** Measured over HTTP/2, with its stream, its request and its position in the changes. */
const WATCH = 24 * KIB
/** Of that, what a request with usual headers takes. */
const WATCH_REQUEST = 20 * KIB
/** Measured with TLS, its buffers and the HTTP parser. */
const CONNECTION = 56 * KIB
/** The largest body, and what it costs before its first byte: with the least memory too, every caller can send it. */
const LARGEST_UPLOAD = 3 * MIB + 64 * KIB

/** What a selector takes, for each of its characters, once it is parsed. */
const SELECTOR = 8

/** How much of the memory that callers use may go to each purpose. What is left over is room for errors of these figures. */
const PARTS = {
  connections: 8 / 32,
  watches: 6 / 32,
  answers: 3 / 32,
  unsent: 1.5 / 32,
  uploads: 3 / 32,
  window: 5 / 32,
  exchanges: 3 / 32,
  anonymousAnswers: 1 / 32,
  anonymousUploads: 0.5 / 32,
}

/** The limits of everything that callers can make the server keep in memory. */
export interface MemoryLimits {
  /** Including handshakes in progress. */
  connections: number
  /** Events, and pieces of long responses, that were handed to Node.js and that their callers have not read yet. */
  unsentBytes: number
  /** Requests that are open, with their headers and short responses: all but watches. */
  exchangeBytes: number
  /** The newest changes of all resources. */
  windowBytes: number
  watches: number
  watchesPerIdentity: number
  /** Bodies that are being received or processed. */
  uploadBytes: number
  uploadBytesPerIdentity: number
  anonymousUploadBytes: number
  /** Long responses that their callers have not read yet. */
  answerBytes: number
  answerBytesPerIdentity: number
  anonymousAnswerBytes: number
}

/** How many usual watches one counts as, if its headers and its selector are long. */
export const watchesIn = (requestBytes: number, selectorLength: number): number =>
  Math.max(1, (WATCH - WATCH_REQUEST + requestBytes + SELECTOR * selectorLength) / WATCH)

/** Divides memory between what callers use it for. */
export function memoryLimits(memory = DEFAULT_MEMORY): MemoryLimits {
  const usable = (memory - PROGRAM) / (1 + WASTE)
  const part = (purpose: keyof typeof PARTS, unit = 1) =>
    Math.floor((usable * PARTS[purpose]) / unit)
  const watches = part('watches', WATCH)
  const uploadBytes = part('uploads')
  const answerBytes = part('answers')
  return {
    connections: part('connections', CONNECTION),
    unsentBytes: part('unsent'),
    windowBytes: part('window'),
    exchangeBytes: part('exchanges'),
    watches,
    watchesPerIdentity: Math.floor(watches / 2),
    uploadBytes,
    uploadBytesPerIdentity: Math.max(Math.floor((uploadBytes * 3) / 8), LARGEST_UPLOAD),
    anonymousUploadBytes: part('anonymousUploads'),
    answerBytes,
    answerBytesPerIdentity: Math.floor(answerBytes / 2),
    anonymousAnswerBytes: part('anonymousAnswers'),
  }
}
