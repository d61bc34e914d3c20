/** For commands that run until they are stopped. */
export interface StopSignal {
  /** Aborted by SIGTERM or SIGINT. */
  signal: AbortSignal
  /** Called at each SIGHUP until then. Before there is one, SIGHUP does nothing. */
  onHangup: (look: () => void) => void
}

export function stopSignal(log: (line: string) => void): StopSignal {
  const stop = new AbortController()
  let look: () => void = () => undefined
  const hangup = () => {
    log('SIGHUP: looking at everything again')
    look()
  }
  process.on('SIGHUP', hangup)
  for (const name of ['SIGTERM', 'SIGINT'] as const) {
    process.once(name, () => {
      log(`${name}: finishing`)
      process.off('SIGHUP', hangup)
      stop.abort(new Error(`stopped by ${name}`))
    })
  }
  return {signal: stop.signal, onHangup: (next) => (look = next)}
}
