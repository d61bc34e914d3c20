import {spawnSync} from 'node:child_process'

/** Whether faults can be injected into system calls here: strace is installed, and may trace. */
export const canInject = (): boolean =>
  spawnSync('strace', ['-f', '-o', '/dev/null', 'true'], {stdio: 'ignore'}).status === 0

/**
 * A command line that makes calls on a file fail. `when` is strace's: "3" is the third call, "3+5" that one and each fifth
 * after it, counted in each thread.
 */
export const injecting = (
  file: string,
  call: string,
  when: string,
  command: readonly string[],
): string[] => [
  ...['strace', '-f', '-qqq', '-o', '/dev/null', '-P', file],
  ...['-e', `trace=${call}`, '-e', `inject=${call}:error=EIO:when=${when}`],
  ...command,
]
