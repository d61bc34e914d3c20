import type {ApiClient} from '../../client/api-client.ts'
import {hasCode} from '../../errors.ts'
import {OWN_NAMESPACE} from '../../trust/own-namespace.ts'
import {asAdmin, planAsAdmin, type InitPhase} from './phase.ts'

const NAMESPACES = ['kube-system', 'kube-public', 'kube-node-lease', 'default', OWN_NAMESPACE]

async function missing(client: Pick<ApiClient, 'namespaces'>): Promise<string[]> {
  const {items} = await client.namespaces.list()
  const existing = new Set(items.map(({metadata}) => metadata.name))
  return NAMESPACES.filter((name) => !existing.has(name))
}

export const namespaces: InitPhase = {
  name: 'namespaces',
  summary: 'create the system namespaces',

  plan: (context) =>
    planAsAdmin(context, [`create the namespaces ${NAMESPACES.join(', ')}`], async (client) =>
      (await missing(client)).map((name) => `create the namespace ${name}`),
    ),

  run: (context) =>
    asAdmin(context, async (client) => {
      for (const name of await missing(client)) {
        try {
          await client.namespaces.create({metadata: {name}})
          context.tell(`the namespace ${name} was created`)
        } catch (error) {
          if (!hasCode(error, 'ALREADY_EXISTS')) throw error
        }
      }
      context.tell(`${NAMESPACES.join(', ')} exist`)
    }),
}
