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

/** In UTC with whole seconds, as Kubernetes writes times. */
export const formatTimestamp = (time: Date): string => `${time.toISOString().slice(0, 19)}Z`
