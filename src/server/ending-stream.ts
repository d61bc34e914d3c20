/**
 * A stream that reports its end once: when it ends or fails, when its reader stops, or when the caller leaves before reading
 * began.
 */
export function endingStream<T>(
  stream: AsyncIterable<T>,
  signal: AbortSignal,
  over: () => void,
): AsyncIterable<T> {
  let isOver = false
  const tell = () => {
    if (isOver) return
    isOver = true
    signal.removeEventListener('abort', tell)
    over()
  }
  signal.addEventListener('abort', tell, {once: true})
  if (signal.aborted) tell()
  return {
    [Symbol.asyncIterator]() {
      const inner = stream[Symbol.asyncIterator]()
      return {
        async next() {
          try {
            const step = await inner.next()
            if (step.done === true) tell()
            return step
          } catch (error) {
            tell()
            throw error
          }
        },
        async return() {
          tell()
          await inner.return?.()
          return {done: true, value: undefined}
        },
      }
    },
  }
}

/** A stream that can be cut: then its reader's next step fails. */
export function cuttable<T>(stream: AsyncIterable<T>): {
  stream: AsyncIterable<T>
  cut: (error: Error) => void
} {
  let failure: Error | undefined
  async function* whole() {
    for await (const piece of stream) {
      if (failure !== undefined) throw failure
      yield piece
    }
  }
  return {
    stream: {[Symbol.asyncIterator]: whole},
    cut: (error) => {
      failure = error
    },
  }
}
