import {approveCommand} from '../../enrollment/outcome.ts'
import {ERROR_CODES, hasCode, TrustError, type ErrorCode} from '../../errors.ts'
import {lockHolder} from '../../fs/folder-lock.ts'
import {nodeFile} from '../node-files.ts'
import {hintsOfNoted, type Self} from '../failures.ts'
import type {AgentState, Failure} from './agent-state.ts'
import {currentState} from './node-status.ts'
import {clientStore, servingStore, type NodeHome} from './node-home.ts'
import {requestRenewal} from './renewal-request.ts'
import {renewOnce, type NodeSession} from './run-agent.ts'

type Kind = 'client' | 'serving'

/** Renews now. A running agent does it; otherwise this process does, and keeps others out of the folder meanwhile. */
export async function renewNow(
  options: NodeSession,
  servingPatience = SERVING_PATIENCE,
): Promise<void> {
  const {home, serving, log} = options
  const {dir} = home
  const kinds: Kind[] = serving ? ['client', 'serving'] : ['client']
  const before = await fingerprints(home)
  const isHeld = async () => (await lockHolder(nodeFile(dir, 'lock'))) !== undefined
  const onWait = pendingTeller(dir, log)
  if ((await isHeld()) && (await requestRenewal(dir, isHeld, onWait))) {
    const after = await fingerprints(home)
    const state = await currentState(dir)
    // Only a new certificate shows that it was renewed.
    const left = kinds.find((kind) => before[kind] === after[kind])
    const {pendingRequest: name} = state.serving
    if (left === 'serving' && name !== undefined) {
      throw servingWaits([
        `once it is approved with "${approveCommand(name)}", the running "trustadm node run" stores it`,
      ])
    }
    if (left) throw notRenewed(left, state, home)
    return
  }
  try {
    await renewOnce({...options, servingPatience}, new AbortController().signal)
  } catch (error) {
    const isRenewed = (await fingerprints(home)).client !== before.client
    if (!isRenewed || !hasCode(error, 'CERTIFICATE_PENDING')) throw error
    throw servingWaits([
      'its key was only in memory: do not approve this request later, deny it',
      'run "trustadm node run --serving", which keeps asking, or approve within a minute next time',
    ])
  }
}

/** Long enough for a person who was told of it. */
const SERVING_PATIENCE = 60_000

/** No approver may be there for it, and the client certificate must not seem to wait, too. */
const servingWaits = (hints: string[]): TrustError =>
  new TrustError(
    'CERTIFICATE_PENDING',
    'the client certificate was renewed; the serving certificate waits for approval, and the old one stays in use',
    {hints},
  )

/** Tells once which request of the running agent waits for a person; the agent itself only logs it. */
function pendingTeller(dir: string, log: (line: string) => void) {
  const told = new Set<string>()
  return async () => {
    const state = await currentState(dir)
    // It may keep a serving certificate that is not there yet.
    for (const kind of ['client', 'serving'] as const) {
      const {pendingRequest: name} = state[kind]
      if (name === undefined || told.has(name)) continue
      told.add(name)
      log(
        `the ${kind} certificate waits for approval: "${approveCommand(name)}" on the control plane`,
      )
      log('the log of "trustadm node run" has the pairing words')
    }
  }
}

/** Of the certificates that are stored now. */
async function fingerprints(home: NodeHome): Promise<Record<Kind, string | undefined>> {
  const [client, serving] = await Promise.all([clientStore(home).read(), servingStore(home).read()])
  return {client: client?.certificate.fingerprint, serving: serving?.certificate.fingerprint}
}

function notRenewed(kind: Kind, state: AgentState, self: Self): TrustError {
  const failure = state[kind].error
  if (failure) return asError(failure, self)
  return new TrustError(
    'NODE_CERTIFICATE_DUE',
    `the running "trustadm node run" did not renew the ${kind} certificate`,
    {
      hints: [
        'its log says why',
        kind === 'client'
          ? 'if it runs with RotateKubeletClientCertificate=false, stop it first: then this command renews'
          : 'if it runs without --serving, stop it first: then this command renews',
      ],
    },
  )
}

function asError(failure: Failure, self: Self): TrustError {
  const {code, message} = failure
  return new TrustError(isCode(code) ? code : 'INTERNAL', message, {
    hints: hintsOfNoted(failure, self) ?? [
      '"trustadm node run" tries again automatically; its log has the details',
    ],
  })
}

const isCode = (code: string): code is ErrorCode => code in ERROR_CODES
