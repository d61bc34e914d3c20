const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const

/**
 * Calls `say` before a signal ends the program. The program still ends by that signal, as shells and service managers expect.
 * Returns a function that stops listening.
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
