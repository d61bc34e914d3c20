import type {RotationReport} from '../../src/control-plane/ca-rotation/report.ts'
import {trustadm} from './program.ts'

/** Runs `ca rotate` with the built program. */
export async function rotateIn(dir: string, action: string, ...more: string[]) {
  const ended = await trustadm('ca', 'rotate', action, '--dir', dir, '-o', 'json', ...more)
  return {...ended, report: () => JSON.parse(ended.stdout) as RotationReport}
}
