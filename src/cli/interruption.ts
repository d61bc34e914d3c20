const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const

/**
 * Says a last word where a signal ends the program, which then ends by that very signal, as shells and service managers expect.
 * Answers how to stop listening.
 */
export function onInterruption(say: () => void): () => void {
  const release = () => {
    for (const signal of SIGNALS) process.off(signal, end)
  }
  const end = (signal: NodeJS.Signals) => {
    release()
    say()
    process.kill(process.pid, signal)
  }
  for (const signal of SIGNALS) process.on(signal, end)
  return release
}
