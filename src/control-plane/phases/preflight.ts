import {access, constants} from 'node:fs/promises'
import {createServer} from 'node:net'
import {dirname} from 'node:path'
import {TrustError, messageOf, systemCode} from '../../errors.ts'
import {readAuthority, requireCurrent} from '../../pki/authority.ts'
import {lookAt} from '../../pki/file-checks.ts'
import {unwritable} from '../../pki/file-errors.ts'
import {requireSafeFolder} from '../../pki/folders.ts'
import {CATALOG} from '../certificates.ts'
import {certDirOf} from '../config/plane.ts'
import {findServerInTime, findStray} from '../stray-process.ts'
import {problemsOfLeaves} from './leaves.ts'
import type {Phase, PhaseContext} from './phase.ts'

/** This release did not exist before: a clock that says otherwise would make certificates that nobody accepts. */
const RELEASED = new Date('2026-10-01T00:00:00Z')

type Check = (context: PhaseContext) => Promise<void>

const clock: Check = ({clock}) => {
  const now = clock.now()
  if (now >= RELEASED) return Promise.resolve()
  throw new TrustError('PREFLIGHT_FAILED', `the clock of this machine says ${now.toISOString()}`, {
    hints: ['set the clock, for certificates depend on it'],
  })
}

/** The folder itself, or the nearest one above it that is there. */
async function existing(folder: string): Promise<string> {
  return (await lookAt(folder)) || folder === dirname(folder) ? folder : existing(dirname(folder))
}

const folders: Check = async ({plane}) => {
  for (const folder of [plane.dir, certDirOf(plane)]) {
    const there = await existing(folder)
    if (there === folder) await requireSafeFolder(folder)
    try {
      await access(there, constants.W_OK)
    } catch (error) {
      throw unwritable(there === folder ? folder : `${folder} in ${there}`, error)
    }
  }
}

const authorities: Check = async ({plane, clock}) => {
  for (const spec of CATALOG.authorities) {
    const authority = await readAuthority(certDirOf(plane), spec)
    if (authority) requireCurrent(authority, clock.now())
  }
}

/** Without its key a CA signs nothing here: what it would have to sign is named at once, before anything is written. */
const externalLeaves: Check = async (context) => {
  for (const spec of CATALOG.authorities) {
    const authority = await readAuthority(certDirOf(context.plane), spec)
    if (!authority || authority.issuer) continue
    const leaves = CATALOG.leaves.filter(({authority: id}) => id === spec.id)
    const missing = await problemsOfLeaves(context, authority, leaves)
    if (missing.length > 0) throw unsigned(authority.location, missing)
  }
}

function unsigned(location: string, missing: readonly string[]): TrustError {
  return new TrustError(
    'SIGNER_KEY_MISSING',
    `the key of the CA in ${location} is not here, and it would have to sign: ${missing.join(', ')}`,
    {
      hints: [
        'have these signed where the key is kept, and put them in their places',
        "or put the CA's key beside its certificate",
      ],
    },
  )
}

const port: Check = async ({plane}) => {
  const {bindAddress, bindPort} = plane.settings
  if (await findServerInTime(plane)) return
  const server = createServer()
  try {
    await new Promise<void>((resolve, reject) => {
      server.once('error', reject)
      server.listen({host: bindAddress, port: bindPort}, resolve)
    })
  } catch (error) {
    const where = `${bindAddress}:${bindPort}`
    if (systemCode(error) === 'EADDRINUSE') {
      const stray = await findStray(plane)
      if (stray) throw stray
      throw new TrustError('PORT_IN_USE', `something already listens on ${where}`, {
        cause: error,
        hints: [
          'choose another port with --apiserver-bind-port; 0 lets the system pick one',
          'or stop what listens there',
        ],
      })
    }
    throw new TrustError('PREFLIGHT_FAILED', `cannot listen on ${where}: ${messageOf(error)}`, {
      cause: error,
      hints: ['choose an address of this machine with --bind-address'],
    })
  } finally {
    server.close()
  }
}

const CHECKS: readonly Check[] = [clock, folders, authorities, externalLeaves, port]

async function problemsOf(context: PhaseContext): Promise<TrustError[]> {
  const problems: TrustError[] = []
  for (const check of CHECKS) {
    try {
      await check(context)
    } catch (error) {
      if (!(error instanceof TrustError)) throw error
      problems.push(error)
    }
  }
  return problems
}

/** All that is wrong is said at once. */
async function requireFit(context: PhaseContext): Promise<void> {
  const problems = await problemsOf(context)
  const [first, ...more] = problems
  if (!first) return
  if (more.length === 0) throw first
  throw new TrustError(
    'PREFLIGHT_FAILED',
    `this machine is not ready: ${problems.map(({message}) => message).join('; ')}`,
    {hints: [...new Set(problems.flatMap(({suggestions}) => suggestions))]},
  )
}

export const preflight: Phase = {
  name: 'preflight',
  summary: 'see that ports, folders, clock and CAs are fit',
  async plan(context) {
    await requireFit(context)
    return []
  },
  async run(context) {
    await requireFit(context)
    context.tell('ports, folders, clock and CAs are fit')
  },
}
