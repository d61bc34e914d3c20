const MOST_NAMES = 3
const MINUTE = 60
const HOUR = 60 * MINUTE

/** Rounded: it is an estimate. */
function formatRemaining(seconds: number | undefined): string {
  if (seconds === undefined) return 'remaining time unknown'
  if (seconds < MINUTE) return `about ${seconds} s left`
  if (seconds < 2 * HOUR) return `about ${Math.ceil(seconds / MINUTE)} min left`
  return `about ${Math.ceil(seconds / HOUR)} h left`
}

export interface Waiting {
  /** Nodes that have followed, of all. */
  nodes: {done: number; total: number}
  names: readonly string[]
  /** In seconds; undefined if it is not known. */
  remaining: number | undefined
}

/** Who is waited for, in one line. */
export function waitingText({nodes: {done, total}, names, remaining}: Waiting): string {
  const shown = names.slice(0, MOST_NAMES).join(', ')
  const more = names.length > MOST_NAMES ? ` and ${names.length - MOST_NAMES} more` : ''
  const count =
    done < total ? `${done} of ${total} nodes done, ${formatRemaining(remaining)}; ` : ''
  return `${count}waiting for ${shown}${more}`
}
