/**
 * A stream that tells once that it is over: at its end, at its failure, when its reader stops, and also when nobody ever
 * began to read it and the caller has gone.
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
