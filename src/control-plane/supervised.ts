import {existsSync} from 'node:fs'

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
