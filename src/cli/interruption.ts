import {columnsOf, paragraph, type Sized} from './layout.ts'
import {toJson} from './output.ts'
import {wantsJson} from './wants-json.ts'

const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const
/** Clears what stands on the line of the terminal: a part of a progress line, or "^C". */
export const CLEAR_LINE = '\r\u001B[K'

/** Tidies up before the program ends; returns what the user can do next, if anything. */
type Stopping = () => string | undefined

/** What runs now, the innermost last: only that one speaks. */
const running: Stopping[] = []

/** What people read, without words that the edge of the terminal cuts. */
export const stoppedText = (hint: string | undefined, stream: Sized): string =>
  (stream.isTTY ? CLEAR_LINE : '') +
  (hint === undefined ? 'Stopped\n' : paragraph('Stopped: ', hint, columnsOf(stream)))

/** A sentence for people, or the documented object for programs. */
function report(hint: string | undefined): string {
  if (wantsJson(process.argv)) {
    const hints = hint === undefined ? [] : [hint]
    return `${toJson({error: {code: 'INTERRUPTED', message: 'stopped', hints}})}\n`
  }
  return stoppedText(hint, process.stderr)
}

function stop(signal: NodeJS.Signals): void {
  for (const one of SIGNALS) process.off(one, stop)
  const hint = running.at(-1)?.()
  process.stderr.write(report(hint))
  process.kill(process.pid, signal)
}

/**
 * Calls `stopping` before a signal ends the program, and says so. The program still ends by that signal, as shells and service managers
 * expect. Returns a function that stops listening.
 */
export function onInterruption(stopping: Stopping): () => void {
  if (running.length === 0) for (const signal of SIGNALS) process.on(signal, stop)
  running.push(stopping)
  return () => {
    const at = running.lastIndexOf(stopping)
    if (at !== -1) running.splice(at, 1)
    if (running.length === 0) for (const signal of SIGNALS) process.off(signal, stop)
  }
}
