import {spawn} from 'node:child_process'
import {realpathSync} from 'node:fs'
import {basename} from 'node:path'
import {cleanEnvironment} from '../control-plane/background-program.ts'

/** As long as a token is valid by default: then nothing can be done with the file anyway. */
const LONGEST_WAIT = '24h'
const PROGRAM = 'run.js'

/** The file of this program; undefined if it runs inside another one, such as a test. */
function ownFile(): string | undefined {
  const [, started] = process.argv
  const file = started === undefined ? undefined : realpathSync(started)
  return file !== undefined && basename(file) === PROGRAM ? file : undefined
}

/**
 * Leaves a process behind that deletes bootstrap-kubelet.conf once the kubelet's own certificate works: the kubelet is started only
 * after `join --for-kubelet` has ended. It ends when the file is gone, and after a day at the latest.
 */
export function deleteOnceUnneeded(node: {dir: string; certDir: string; nodeName: string}): void {
  const file = ownFile()
  if (file === undefined) return
  const {dir, certDir, nodeName} = node
  const names = ['--dir', dir, '--cert-dir', certDir, '--node-name', nodeName]
  const line = ['join', 'phase', 'cleanup', ...names, '--timeout', LONGEST_WAIT, '--quiet']
  spawn(process.execPath, [...process.execArgv, file, ...line], {
    detached: true,
    cwd: '/',
    env: cleanEnvironment(process.env),
    stdio: 'ignore',
  }).unref()
}
