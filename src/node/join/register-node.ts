import {TrustError, hasCode} from '../../errors.ts'
import {withCertificate} from '../cluster-access.ts'
import {nodeObject, registerNode} from '../node-object.ts'
import {type JoinPhase, requireClusterInfo, requireValid} from './phase.ts'

const OUTCOMES = {
  registered: 'is registered',
  updated: 'existed already, and its addresses were updated',
  kept: 'is registered already',
}

export const register: JoinPhase = {
  name: 'register-node',
  summary: 'register the Node with its own new identity',

  async plan({settings}) {
    return await Promise.resolve([`register the Node "${settings.nodeName}"`])
  },

  async run(context) {
    const {settings, clock, tell, patience} = context
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

function notAccepted(file: string, cause: TrustError): TrustError {
  return new TrustError('UNAUTHORIZED', `the cluster does not accept the certificate in ${file}`, {
    cause,
    facts: cause.facts,
    hints: [
      'if the cluster was reinstalled or its CA was replaced, move the folder of this node away and join again',
    ],
  })
}
