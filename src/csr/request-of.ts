import {messageOf} from '../errors.ts'
import {verifyRequest} from '../pki/request.ts'
import {parseSpecRequest, readRequest, type RequestVerdict} from './read-request.ts'

interface WithRequest {
  spec?: {request?: string}
}

interface Reading {
  encoded: string | undefined
  read: RequestVerdict
  /** Absent until the signature has been checked. */
  verified?: RequestVerdict
}

const readings = new WeakMap<WithRequest, Reading>()

function readingOf(csr: WithRequest): Reading {
  const encoded = csr.spec?.request
  const known = readings.get(csr)
  if (known !== undefined && known.encoded === encoded) return known
  const reading: Reading = {encoded, read: parseSpecRequest(encoded)}
  readings.set(csr, reading)
  return reading
}

/** What an object's request asks for, its signature unchecked. Read once, however many steps look at the object. */
export const requestOf = (csr: WithRequest): RequestVerdict => readingOf(csr).read

/** Checks the signature on the thread pool, so that `verifiedRequestOf` finds it checked. */
export async function verifyAhead(csr: WithRequest): Promise<void> {
  const reading = readingOf(csr)
  if ('why' in reading.read) return
  try {
    await verifyRequest(reading.read.request)
    reading.verified = reading.read
  } catch (error) {
    reading.verified = {why: messageOf(error)}
  }
}

/** What an object's request asks for, signed by its own key. */
export function verifiedRequestOf(csr: WithRequest): RequestVerdict {
  const reading = readingOf(csr)
  if ('why' in reading.read) return reading.read
  reading.verified ??= readRequest(reading.encoded)
  return reading.verified
}
