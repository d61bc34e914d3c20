import {ERROR_CODES, TrustError, type ErrorCode} from '../../errors.ts'
import {lockHolder} from '../../fs/folder-lock.ts'
import {nodeFile} from '../node-files.ts'
import {readAgentState, type Failure} from './agent-state.ts'
import {requestRenewal} from './renewal-request.ts'
import {renewOnce, type NodeSession} from './run-agent.ts'

/** Renews now. A running agent does it; otherwise this process does, and keeps others out of the folder meanwhile. */
export async function renewNow(options: NodeSession): Promise<void> {
  const {dir} = options.home
  const isHeld = async () => (await lockHolder(nodeFile(dir, 'lock'))) !== undefined
  if ((await isHeld()) && (await requestRenewal(dir, isHeld))) {
    const {client, serving} = await readAgentState(dir)
    const failure = client.error ?? serving.error
    if (failure) throw asError(failure)
    return
  }
  await renewOnce(options, new AbortController().signal)
}

function asError({code, message}: Failure): TrustError {
  return new TrustError(isCode(code) ? code : 'INTERNAL', message, {
    hints: ['"trustadm node run" tries again by itself; its log has the details'],
  })
}

const isCode = (code: string): code is ErrorCode => code in ERROR_CODES
