/** Time, as an argument: policies take a Clock so that tests can hold it still. */
export interface Clock {
  now(): Date
}

export const systemClock: Clock = {now: () => new Date()}

/** Waits, and ends early with the signal's reason. */
export async function sleep(milliseconds: number, signal?: AbortSignal): Promise<void> {
  signal?.throwIfAborted()
  await new Promise<void>((resolve, reject) => {
    const finish = () => {
      signal?.removeEventListener('abort', abort)
      resolve()
    }
    const timer = setTimeout(finish, milliseconds)
    const abort = () => {
      clearTimeout(timer)
      reject(signal?.reason as Error)
    }
    signal?.addEventListener('abort', abort, {once: true})
  })
}

/**
 * Calls a function again and again, until what this returns is called. A call that fails, as any may with no descriptor left, is
 * reported once, and the next one follows: an error in a timer would end the process.
 */
export function every(
  milliseconds: number,
  work: () => unknown,
  report: (error: unknown) => void = (error) => process.emitWarning(String(error)),
): () => void {
  let reported = ''
  const run = async () => {
    try {
      await work()
      reported = ''
    } catch (error) {
      const text = String(error)
      if (text !== reported) report(error)
      reported = text
    }
  }
  const timer = setInterval(() => void run(), milliseconds).unref()
  return () => clearInterval(timer)
}

/** In UTC with whole seconds, as Kubernetes writes times. */
export const formatTimestamp = (time: Date): string => `${time.toISOString().slice(0, 19)}Z`
