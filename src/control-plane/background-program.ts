import {closeSync, existsSync, readFileSync, readdirSync} from 'node:fs'
import {SERVER_ENVIRONMENT} from './process-memory.ts'

/** The environment variables that a server inherits. Tokens, proxies and options of Node.js are not among them. */
const PASSED_ON = /^(?:PATH|HOME|USER|LOGNAME|LANG|LC_[A-Z]+|TZ|TMPDIR|UV_THREADPOOL_SIZE)$/
const CLOSED_AT_START = 0o2000000

export const cleanEnvironment = (
  environment: Record<string, string | undefined>,
): Record<string, string | undefined> => ({
  ...SERVER_ENVIRONMENT,
  ...Object.fromEntries(Object.entries(environment).filter(([name]) => PASSED_ON.test(name))),
})

function isInherited(descriptor: string): boolean {
  const [, flags = ''] =
    /^flags:\s*(\d+)$/m.exec(readFileSync(`/proc/self/fdinfo/${descriptor}`, 'utf8')) ?? []
  return flags !== '' && (Number.parseInt(flags, 8) & CLOSED_AT_START) === 0
}

/**
 * Closes the descriptors that this process inherited, except the standard ones. Otherwise a program that it starts would keep
 * files, pipes and locks of other programs open. Descriptors that Node.js opens are never inherited.
 */
export function closeInheritedDescriptors(): void {
  let names: string[]
  try {
    names = readdirSync('/proc/self/fd')
  } catch {
    // Only Linux lists them; elsewhere Node.js closes them.
    return
  }
  for (const name of names.filter((one) => Number(one) > 2)) {
    try {
      if (isInherited(name)) closeSync(Number(name))
    } catch {
      // The descriptor that the list was read with is closed already.
    }
  }
}

const SHELL = '/bin/sh'

/**
 * SIGABRT, SIGBUS and SIGSEGV: the program crashed, as LMDB may on a disk with errors, and is restarted. Any other end was
 * intended, or would happen again. No core dump is written: it would contain keys.
 */
const SCRIPT = `
ulimit -c 0
pause=0
while :; do
  "$@"
  code=$?
  case $code in 134 | 135 | 139) ;; *) exit $code ;; esac
  pause=$((pause < 60 ? pause + 1 : 60))
  echo "error: the server crashed (exit code $code); nothing acknowledged is lost; restarting in $pause s" >&2
  sleep $pause
done`

/** Whether a command line, as in /proc/<pid>/cmdline, is one that `supervised` made. */
export const isSupervisor = (commandLine: string): boolean =>
  commandLine.startsWith(`${SHELL}\0-c\0${SCRIPT}\0`)

/** A command line that restarts a program whenever it crashes; without a shell, only the program itself. */
export function supervised(
  command: readonly [string, ...string[]],
): readonly [string, ...string[]] {
  return existsSync(SHELL) ? [SHELL, '-c', SCRIPT, 'trustadm', ...command] : command
}
