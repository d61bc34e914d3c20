import {connectAsAdmin} from '../../../src/control-plane/admin.ts'
import {stepsOf} from '../../../src/control-plane/ca-rotation/advance.ts'
import type {Journal} from '../../../src/control-plane/ca-rotation/journal.ts'
import type {Plane} from '../../../src/control-plane/config/plane.ts'
import {savePlane} from '../../../src/control-plane/config/stored.ts'
import {serve} from '../../../src/control-plane/serve.ts'
import {systemClock} from '../../../src/runtime.ts'
import type {PlaneFixture} from '../plane-fixture.ts'

export const silent = () => undefined
export const observer = {begin: silent, end: silent, waiting: silent}

/** What a rotation needs beside its options. The tests themselves use old copies of what the rotation has replaced. */
export const contextFor = (plane: Plane) => ({
  plane,
  ignored: ['replaced-here', 'kubernetes-admin'],
  clock: systemClock,
  tell: silent,
  warn: silent,
  connect: connectAsAdmin,
})

/** Serves a control plane whose files are there. Call what it returns to stop the server and to remove everything. */
export async function serveFixture(
  {context, remove}: PlaneFixture,
  log: (line: string) => void = silent,
): Promise<() => Promise<void>> {
  await savePlane(context.plane)
  const running = await serve(context.plane, {clock: systemClock, log})
  return async () => {
    process.emit('SIGTERM')
    await running.ended
    await remove()
  }
}

/** A start that is done, of a CA that ends on the second of March. */
export const STARTED: Journal = {
  version: 1,
  action: 'start',
  phase: 'Prepare',
  lastInitiation: '2026-02-01T00:00:00.000Z',
  units: [{id: 'ca', old: {pin: 'a', notAfter: '2026-03-02T00:00:00.000Z'}, new: {pin: 'b'}}],
  done: stepsOf({action: 'start'}).map(({id}) => id),
  overrides: [],
}
export const ABORTING: Journal = {...STARTED, action: 'abort', done: ['sign-with-old']}
