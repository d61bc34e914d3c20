import {hasCode} from '../../errors.ts'
import type {ApiClient} from '../../client/api-client.ts'
import {findServer} from '../server-state.ts'
import type {Phase} from './phase.ts'

const NAMESPACES = ['kube-system', 'kube-public', 'kube-node-lease', 'default']

async function missing(client: Pick<ApiClient, 'namespaces'>): Promise<string[]> {
  const {items} = await client.namespaces.list()
  const there = new Set(items.map(({metadata}) => metadata.name))
  return NAMESPACES.filter((name) => !there.has(name))
}

export const namespaces: Phase = {
  name: 'namespaces',
  summary: 'see that the system namespaces are there',

  async plan({plane, connect}) {
    if (!(await findServer(plane))) return [`see to the namespaces ${NAMESPACES.join(', ')}`]
    const client = await connect(plane)
    try {
      return (await missing(client)).map((name) => `make the namespace ${name}`)
    } finally {
      await client.close()
    }
  },

  async run({plane, connect, tell}) {
    const client = await connect(plane)
    try {
      for (const name of await missing(client)) {
        try {
          await client.namespaces.create({metadata: {name}})
          tell(`the namespace ${name} was made`)
        } catch (error) {
          if (!hasCode(error, 'ALREADY_EXISTS')) throw error
        }
      }
      tell(`${NAMESPACES.join(', ')} are there`)
    } finally {
      await client.close()
    }
  },
}
