import {TrustError} from '../../errors.ts'
import {readAuthority, requireCurrent} from '../../pki/authority.ts'
import {checkPhase, requireChecks, type Check} from '../../phases.ts'
import {requireRightClock, requireWritableFolders} from '../../pki/machine-checks.ts'
import {readCatalog} from '../certificates.ts'
import {certDirOf} from '../config/plane.ts'
import {requireFreePort} from '../free-port.ts'
import {requireEtcd} from '../plane-storage.ts'
import {findServerInTime} from '../server-state.ts'
import {problemsOfLeaves, requireBroughtUsable} from './leaves.ts'
import type {InitContext} from './phase.ts'

type Run = Check<InitContext>['run']

const clock: Run = ({clock}) => requireRightClock(clock.now())

const folders: Run = ({plane}) => requireWritableFolders([plane.dir, certDirOf(plane)])

const authorities: Run = async ({plane, clock}) => {
  for (const spec of (await readCatalog(plane)).authorities) {
    const authority = await readAuthority(certDirOf(plane), spec)
    if (authority) requireCurrent(authority, clock.now())
  }
}

/** A CA without its key signs nothing here: reports the certificates that it would have to sign before anything is written. */
const externalLeaves: Run = async (context) => {
  const catalog = await readCatalog(context.plane)
  for (const spec of catalog.authorities) {
    const authority = await readAuthority(certDirOf(context.plane), spec)
    if (!authority || authority.issuer) continue
    const leaves = catalog.leaves.filter(({authority: id}) => id === spec.id)
    const missing = await problemsOfLeaves(context, leaves)
    if (missing.length > 0) throw unsigned(authority.location, missing)
  }
}

const broughtLeaves: Run = async (context) =>
  requireBroughtUsable(context, (await readCatalog(context.plane)).leaves)

function unsigned(location: string, missing: readonly string[]): TrustError {
  return new TrustError(
    'SIGNER_KEY_MISSING',
    `the key of the CA in ${location} is missing, but needed to sign ${missing.join(', ')}`,
    {
      hints: [
        'sign these where the key is, and copy them to their locations',
        "or copy the CA's key to the folder of its certificate",
      ],
    },
  )
}

const port: Run = async ({plane}) => {
  if (await findServerInTime(plane)) return
  await requireFreePort(plane, [
    'choose another port with --apiserver-bind-port; 0 picks a free one',
    'or stop the program that listens there',
  ])
}

const OF_MACHINE: readonly Check<InitContext>[] = [{run: clock}, {run: folders}, {run: port}]

const CHECKS: readonly Check<InitContext>[] = [
  ...OF_MACHINE,
  {run: authorities},
  {run: externalLeaves},
  {run: broughtLeaves},
  {run: ({plane}) => requireEtcd(plane)},
]

/** What can be checked before there are any files. */
export const requireMachine = (context: InitContext): Promise<void> =>
  requireChecks(OF_MACHINE, context, context)

export const preflight = checkPhase({
  name: 'preflight',
  summary: 'check ports, folders, clock and CAs',
  passed: 'ports, folders, clock and CAs are ready',
  check: (context: InitContext) => requireChecks(CHECKS, context, context),
})
