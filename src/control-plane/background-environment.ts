import {closeSync, readFileSync, readdirSync} from 'node:fs'

/** What a server needs of the environment of whoever started it. Tokens, proxies and options of Node.js are not among it. */
const KEPT = /^(?:PATH|HOME|USER|LOGNAME|LANG|LC_[A-Z]+|TZ|TMPDIR|UV_THREADPOOL_SIZE)$/
const CLOSED_AT_START = 0o2000000

export const cleanEnvironment = (
  environment: Record<string, string | undefined>,
): Record<string, string | undefined> =>
  Object.fromEntries(Object.entries(environment).filter(([name]) => KEPT.test(name)))

function isInherited(descriptor: string): boolean {
  const [, flags = ''] =
    /^flags:\s*(\d+)$/m.exec(readFileSync(`/proc/self/fdinfo/${descriptor}`, 'utf8')) ?? []
  return flags !== '' && (Number.parseInt(flags, 8) & CLOSED_AT_START) === 0
}

/**
 * Closes the descriptors that this process has from its parent, beyond the standard ones: a program that it starts would keep
 * them, and with them files, pipes and locks of strangers. Those that Node.js opens are never passed on.
 */
export function closeInheritedDescriptors(): void {
  let names: string[]
  try {
    names = readdirSync('/proc/self/fd')
  } catch {
    // Only Linux shows them, and elsewhere Node.js closes them.
    return
  }
  for (const name of names.filter((one) => Number(one) > 2)) {
    try {
      if (isInherited(name)) closeSync(Number(name))
    } catch {
      // The one that the list was read by is gone.
    }
  }
}
