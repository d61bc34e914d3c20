import {join} from 'node:path'
import {TrustError} from '../../errors.ts'
import {lookAt, requireReplaceable} from '../../pki/file-checks.ts'
import {unreadable} from '../../pki/file-errors.ts'
import {
  problemOf,
  requireNoProblems,
  requireRightClock,
  requireWritableFolders,
} from '../../pki/machine-checks.ts'
import {nodeFile} from '../node-files.ts'
import {findValid} from './prerequisites.ts'
import type {JoinContext, JoinPhase} from './phase.ts'

/** What only the folder of a control plane holds. */
const OF_CONTROL_PLANE = ['config.yaml', 'store', 'admin.conf', 'pki/ca.key']

/** What a join replaces, or removes, as a whole. */
const WRITTEN = ['clusterInfo', 'ca', 'pendingKey', 'kubeconfig', 'bootstrapKubeconfig'] as const

interface Check {
  /** What `--ignore-preflight-errors` names it by. */
  name: string
  run: (context: JoinContext) => Promise<void> | void
}

const clock: Check = {
  name: 'Clock',
  run: ({clock}) => requireRightClock(clock.now()),
}

const folder: Check = {
  name: 'Folder',
  run: async ({settings: {dir}}) => {
    await requireWritableFolders([dir, nodeFile(dir, 'pki')])
    // What cannot be written in the end is better known before a certificate is asked for.
    for (const file of WRITTEN) await requireReplaceable(nodeFile(dir, file))
  },
}

/** Never left out: its CA would be taken for the cluster's, or written over. */
async function requireNoControlPlane({settings: {dir}}: JoinContext): Promise<void> {
  for (const name of OF_CONTROL_PLANE) {
    const path = join(dir, name)
    const stats = await lookAt(path).catch((error: unknown) => {
      throw unreadable(path, error)
    })
    if (!stats) continue
    throw new TrustError('CONFLICT', `${dir} is the folder of a control plane: it holds ${name}`, {
      hints: ['join into another folder with --dir: each node has its own'],
    })
  }
}

const CHECKS: readonly Check[] = [clock, folder]

async function requireFit(context: JoinContext): Promise<void> {
  await requireNoControlPlane(context)
  const problems: TrustError[] = []
  const ignored = context.settings.ignoredChecks ?? []
  for (const {name, run} of CHECKS) {
    const problem = await problemOf(() => run(context))
    if (!problem) continue
    const isIgnored = ignored.includes('all') || ignored.includes(name.toLowerCase())
    if (isIgnored) context.warn(`${problem.message} (ignored)`)
    else problems.push(problem)
  }
  requireNoProblems(problems)
  await findValid(context)
}

export const preflight: JoinPhase = {
  name: 'preflight',
  summary: 'see that the folder and the clock are fit',
  async plan(context) {
    await requireFit(context)
    return []
  },
  async run(context) {
    await requireFit(context)
    context.tell('the folder and the clock are fit')
  },
}
