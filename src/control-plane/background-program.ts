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
 * Restarts the program whenever it ends and nobody has asked for it: 0 is a regular end, 130 and 143 are signals before it could
 * handle them. Its file is there from when it is ready until a regular end, and names its supervisor: without that it has never been ready, which the command
 * that started it reports, or another server has taken over. No core dump is written: it would contain keys.
 */
const SCRIPT = `
ulimit -c 0
file=$1
shift
pause=0
while :; do
  start=$(date +%s)
  "$@"
  code=$?
  case $code in 0 | 130 | 143) exit $code ;; esac
  grep -qs '"pid": '$$, "$file" || exit $code
  [ $(($(date +%s) - start)) -lt 600 ] || pause=0
  pause=$((pause < 60 ? pause + 1 : 60))
  echo "error: the server crashed (exit code $code); nothing acknowledged is lost; restarting in $pause s" >&2
  sleep $pause
done`

/** Whether a command line, as in /proc/<pid>/cmdline, is one that `supervised` made. */
export const isSupervisor = (commandLine: string): boolean =>
  commandLine.startsWith(`${SHELL}\0-c\0${SCRIPT}\0`)

/**
 * A command line that restarts a program whenever it ends unasked; without a shell, only the program itself. `file` is where a program that is
 * ready records its supervisor.
 */
export function supervised(
  command: readonly [string, ...string[]],
  file: string,
): readonly [string, ...string[]] {
  return existsSync(SHELL) ? [SHELL, '-c', SCRIPT, 'trustadm', file, ...command] : command
}
