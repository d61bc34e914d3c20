import type {Attack} from '../attack.ts'

const SIZE = 1_000_000

/** One large object, written again and again: each version goes through memory, disk and the window of changes. */
export const configMaps: Attack = {
  name: 'config-maps',
  aim: 'one ConfigMap of 1 MB, rewritten by a tenant',
  async run({holdings, shoot, flood}) {
    const {tenant, namespace} = holdings
    const path = `/api/v1/namespaces/${namespace}/configmaps`
    const bodyOf = (number: number) =>
      JSON.stringify({
        metadata: {name: 'large', namespace},
        data: {text: String(number).padEnd(SIZE, 'x')},
      })
    await flood({perSecond: 10, atOnce: 3}, async (number) => {
      const body = bodyOf(number)
      const {status} = await shoot(tenant, {method: 'PUT', path: `${path}/large`, body})
      if (status === 404) await shoot(tenant, {method: 'POST', path, body})
    })
  },
}
