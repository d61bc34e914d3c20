import {TrustError, hasCode} from '../../errors.ts'
import {withCertificate} from '../cluster-access.ts'
import {nodeObject, registerNode} from '../node-object.ts'
import {kubeletState, RESTART_KUBELET} from '../kubelet-service.ts'
import {runShellCommand} from '../shell-command.ts'
import {type JoinContext, type JoinPhase, requireClusterInfo, requireValid} from './phase.ts'

const OUTCOMES = {
  registered: 'is registered',
  updated: 'existed already, and its addresses were updated',
  kept: 'is registered already',
}

export const register: JoinPhase = {
  name: 'register-node',
  summary: 'register the Node with its own new identity',

  async plan({settings, isKubelets}) {
    if (isKubelets) return ['restart the kubelet, which registers the Node']
    return await Promise.resolve([`register the Node "${settings.nodeName}"`])
  },

  async run(context) {
    const {settings, clock, tell, patience} = context
    if (context.isKubelets) return await restartKubelet(context)
    const info = await requireClusterInfo(context)
    const current = await requireValid(context)
    try {
      const outcome = await withCertificate(
        info,
        current,
        async (client, server, signal) =>
          registerNode(client, await nodeObject(settings.nodeName, server, clock), signal),
        {patience},
      )
      tell(`the Node "${settings.nodeName}" ${OUTCOMES[outcome]}`)
    } catch (error) {
      throw hasCode(error, 'UNAUTHORIZED') ? notAccepted(current.file, error) : error
    }
  },
}

/** It knows more about its machine, and reads its files only when it starts. */
async function restartKubelet({tell, warn}: JoinContext): Promise<void> {
  const state = await kubeletState()
  if (state === 'unknown') {
    return warn(
      'the kubelet registers the Node: restart it so that it uses the new files; no systemd runs a kubelet.service here',
    )
  }
  if (state === 'stopped') return tell('the kubelet registers the Node when it starts')
  const ended = await runShellCommand({
    command: RESTART_KUBELET,
    variables: {},
    signal: new AbortController().signal,
  })
  if (ended === undefined) return tell('the kubelet was restarted: it registers the Node')
  throw new TrustError('ON_CHANGE_FAILED', `"${RESTART_KUBELET}" ${ended}`, {
    hints: ['restart the kubelet, which uses the new files from then on'],
  })
}

function notAccepted(file: string, cause: TrustError): TrustError {
  return new TrustError('UNAUTHORIZED', `the cluster does not accept the certificate in ${file}`, {
    cause,
    facts: cause.facts,
    hints: [
      'if the cluster was reinstalled or its CA was replaced, move the folder of this node away and join again',
    ],
  })
}
