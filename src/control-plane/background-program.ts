import {closeSync, existsSync, readFileSync, readdirSync} from 'node:fs'
import {MALLOC_SETTINGS} from './process-memory.ts'

/** What a server needs of the environment of whoever started it. Tokens, proxies and options of Node.js are not among it. */
const PASSED_ON = /^(?:PATH|HOME|USER|LOGNAME|LANG|LC_[A-Z]+|TZ|TMPDIR|UV_THREADPOOL_SIZE)$/
const CLOSED_AT_START = 0o2000000

export const cleanEnvironment = (
  environment: Record<string, string | undefined>,
): Record<string, string | undefined> => ({
  ...MALLOC_SETTINGS,
  ...Object.fromEntries(Object.entries(environment).filter(([name]) => PASSED_ON.test(name))),
})

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

const SHELL = '/bin/sh'

/**
 * SIGABRT, SIGBUS and SIGSEGV: the program did not end, it crashed, as LMDB may on a disk with errors. Whatever else ends
 * it was wanted or will happen again. No core is left: it would hold keys.
 */
const SCRIPT = `
ulimit -c 0
pause=0
while :; do
  "$@"
  code=$?
  case $code in 134 | 135 | 139) ;; *) exit $code ;; esac
  pause=$((pause < 60 ? pause + 1 : 60))
  echo "error: the server crashed (exit code $code); nothing acknowledged is lost; it is started again in $pause s" >&2
  sleep $pause
done`

/** A command line that starts a program again whenever it crashes. Where there is no shell, it is the program's own. */
export function supervised(
  command: readonly [string, ...string[]],
): readonly [string, ...string[]] {
  return existsSync(SHELL) ? [SHELL, '-c', SCRIPT, 'trustadm', ...command] : command
}
