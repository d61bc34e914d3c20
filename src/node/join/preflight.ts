import {join} from 'node:path'
import {TrustError} from '../../errors.ts'
import {lookAt, requireReplaceable, unreadable} from '../../fs/file-checks.ts'
import {checkPhase, requireChecks, type Check} from '../../phases.ts'
import {requireRightClock, requireWritableFolders} from '../../pki/machine-checks.ts'
import {pendingKeyIn} from '../cert-dir.ts'
import {nodeFile} from '../node-files.ts'
import {findValid, type JoinContext} from './phase.ts'

/** A file that only the folder of a control plane has. */
const OF_CONTROL_PLANE = ['config.yaml', 'store', 'admin.conf', 'pki/ca.key']

/** Files that join replaces or removes. */
const WRITTEN = ['clusterInfo', 'ca', 'kubeconfig', 'bootstrapKubeconfig'] as const

const clock: Check<JoinContext> = {
  name: 'Clock',
  run: ({clock}) => requireRightClock(clock.now()),
}

const folder: Check<JoinContext> = {
  name: 'Folder',
  run: async ({settings: {dir}, certDir}) => {
    await requireWritableFolders([...new Set([dir, nodeFile(dir, 'pki'), certDir])])
    // Better to find out now than after requesting a certificate.
    const files = WRITTEN.map((name) => nodeFile(dir, name))
    for (const file of [...files, pendingKeyIn(certDir)]) await requireReplaceable(file)
  },
}

/** Cannot be ignored: its CA would be mistaken for the cluster's, or overwritten. */
async function requireNoControlPlane({settings: {dir}}: JoinContext): Promise<void> {
  for (const name of OF_CONTROL_PLANE) {
    const path = join(dir, name)
    const stats = await lookAt(path).catch((error: unknown) => {
      throw unreadable(path, error)
    })
    if (!stats) continue
    throw new TrustError(
      'CONFLICT',
      `${dir} is the folder of a control plane: it contains ${name}`,
      {
        hints: ['use another folder with --dir: each node needs its own'],
      },
    )
  }
}

export const preflight = checkPhase({
  name: 'preflight',
  summary: 'check the folder and the clock',
  passed: 'the folder and the clock are ready',
  check: async (context: JoinContext) => {
    const {settings, warn} = context
    await requireNoControlPlane(context)
    await requireChecks([clock, folder], context, {ignored: settings.ignoredChecks, warn})
    await findValid(context)
  },
})
