import {ERROR_CODES, TrustError, type ErrorCode} from '../../errors.ts'
import {lockHolder} from '../../fs/folder-lock.ts'
import {nodeFile} from '../node-files.ts'
import {readAgentState, type AgentState, type Failure} from './agent-state.ts'
import {clientStore, servingStore, type NodeHome} from './node-home.ts'
import {requestRenewal} from './renewal-request.ts'
import {renewOnce, type NodeSession} from './run-agent.ts'

type Kind = 'client' | 'serving'

/** Renews now. A running agent does it; otherwise this process does, and keeps others out of the folder meanwhile. */
export async function renewNow(options: NodeSession): Promise<void> {
  const {home, serving} = options
  const {dir} = home
  const kinds: Kind[] = serving ? ['client', 'serving'] : ['client']
  const before = await fingerprints(home)
  const isHeld = async () => (await lockHolder(nodeFile(dir, 'lock'))) !== undefined
  if ((await isHeld()) && (await requestRenewal(dir, isHeld))) {
    const after = await fingerprints(home)
    const state = await readAgentState(dir)
    // Its state may be out of date, as on a full disk: only a new certificate shows that it was renewed.
    const left = kinds.find((kind) => before[kind] === after[kind])
    if (left) throw notRenewed(left, state)
    return
  }
  await renewOnce(options, new AbortController().signal)
}

/** Of the certificates that are stored now. */
async function fingerprints(home: NodeHome): Promise<Record<Kind, string | undefined>> {
  const [client, serving] = await Promise.all([clientStore(home).read(), servingStore(home).read()])
  return {client: client?.certificate.fingerprint, serving: serving?.certificate.fingerprint}
}

function notRenewed(kind: Kind, state: AgentState): TrustError {
  const failure = state[kind].error
  if (failure) return asError(failure)
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

function asError({code, message}: Failure): TrustError {
  return new TrustError(isCode(code) ? code : 'INTERNAL', message, {
    hints: ['"trustadm node run" tries again by itself; its log has the details'],
  })
}

const isCode = (code: string): code is ErrorCode => code in ERROR_CODES
