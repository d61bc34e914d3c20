import {access, constants} from 'node:fs/promises'
import {dirname, join} from 'node:path'
import {TrustError} from '../../errors.ts'
import {lookAt, requireReplaceable} from '../../pki/file-checks.ts'
import {unreadable, unwritable} from '../../pki/file-errors.ts'
import {requireSafeFolder} from '../../pki/folders.ts'
import {nodeFile} from '../places.ts'
import {findValid} from './known.ts'
import type {JoinContext, JoinPhase} from './phase.ts'

/** This release did not exist before: no certificate that the cluster issues now would be valid on a clock before it. */
const RELEASED = new Date('2026-10-01T00:00:00Z')
/** What only the folder of a control plane holds. */
const OF_CONTROL_PLANE = ['config.yaml', 'store', 'admin.conf', 'pki/ca.key']

/** What a join replaces, or removes, as a whole. */
const WRITTEN = ['clusterInfo', 'ca', 'pendingKey', 'kubeconfig', 'bootstrapKubeconfig'] as const

interface Check {
  /** What `--ignore-preflight-errors` names it by. */
  name: string
  run: (context: JoinContext) => Promise<void>
}

const clock: Check = {
  name: 'Clock',
  run: ({clock}) => {
    const now = clock.now()
    if (now >= RELEASED) return Promise.resolve()
    throw new TrustError(
      'PREFLIGHT_FAILED',
      `the clock of this machine says ${now.toISOString()}`,
      {hints: ['set the clock, for certificates depend on it']},
    )
  },
}

/** The folder itself, or the nearest one above it that is there. */
async function existing(folder: string): Promise<string> {
  return (await lookAt(folder)) || folder === dirname(folder) ? folder : existing(dirname(folder))
}

const folder: Check = {
  name: 'Folder',
  run: async ({settings: {dir}}) => {
    for (const path of [dir, nodeFile(dir, 'pki')]) {
      const there = await existing(path)
      if (there === path) await requireSafeFolder(path)
      try {
        await access(there, constants.W_OK)
      } catch (error) {
        throw unwritable(there === path ? path : `${path} in ${there}`, error)
      }
    }
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

/** All that is wrong is said at once. */
async function requireFit(context: JoinContext): Promise<void> {
  await requireNoControlPlane(context)
  const problems: TrustError[] = []
  const ignored = context.settings.ignoredChecks ?? []
  for (const {name, run} of CHECKS) {
    try {
      await run(context)
    } catch (error) {
      if (!(error instanceof TrustError)) throw error
      const isIgnored = ignored.includes('all') || ignored.includes(name.toLowerCase())
      if (isIgnored) context.warn(`${error.message} (ignored)`)
      else problems.push(error)
    }
  }
  const [first, ...more] = problems
  if (first && more.length === 0) throw first
  if (first) {
    throw new TrustError(
      'PREFLIGHT_FAILED',
      `this machine is not ready: ${problems.map(({message}) => message).join('; ')}`,
      {hints: [...new Set(problems.flatMap(({suggestions}) => suggestions))]},
    )
  }
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
