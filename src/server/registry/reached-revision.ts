/** A revision that only grows, and those who wait for a later one. */
export class ReachedRevision {
  readonly #waiting = new Set<{revision: number; resolve: (reached: boolean) => void}>()
  #value = 0

  get value(): number {
    return this.#value
  }

  advance(revision: number): void {
    this.#value = Math.max(this.#value, revision)
    for (const waiter of this.#waiting) if (waiter.revision <= this.#value) waiter.resolve(true)
  }

  /** Waits for a revision; returns false if it is not reached after this many milliseconds. Throws the signal's reason. */
  async wait(revision: number, milliseconds: number, signal?: AbortSignal): Promise<boolean> {
    signal?.throwIfAborted()
    return new Promise((resolve, reject) => {
      const end = () => {
        clearTimeout(timer)
        signal?.removeEventListener('abort', abort)
        this.#waiting.delete(waiter)
      }
      const finish = (reached: boolean) => {
        end()
        resolve(reached)
      }
      const abort = () => {
        end()
        reject(signal?.reason as Error)
      }
      const timer = setTimeout(finish, milliseconds, false)
      const waiter = {revision, resolve: finish}
      this.#waiting.add(waiter)
      signal?.addEventListener('abort', abort, {once: true})
    })
  }
}
