import type {ApiObject} from '../api/meta.ts'
import type {ApiClient} from '../client/api-client.ts'
import {systemClock} from '../runtime.ts'
import type {Candidate, NameKind, NameSource} from './complete-names.ts'

/** A person waits for this with a finger on the key, unless --request-timeout is on the line. */
const LONGEST_WAIT = 1500
/** More than anybody reads; the beginning of a name finds the others. */
const MOST = 200

type FromCluster = (client: ApiClient, signal: AbortSignal) => Promise<Candidate[]>

const named = (items: readonly ApiObject[]): Candidate[] =>
  items.slice(0, MOST).flatMap(({metadata: {name}}) => (name === undefined ? [] : [{word: name}]))

const FROM_CLUSTER: Partial<Record<NameKind, FromCluster>> = {
  requests: async ({csrs}, signal) => {
    const {items} = await csrs.list({signal})
    const newest = [...items].reverse().slice(0, MOST)
    return newest.flatMap(({metadata: {name}, spec}) =>
      name === undefined ? [] : [{word: name, summary: spec.username}],
    )
  },
  tokens: async (client) => {
    const {listTokenSecrets} = await import('../control-plane/tokens/list.ts')
    const {readTokenSecret} = await import('../bootstrap/read-token-secret.ts')
    const now = systemClock.now()
    const found = (await listTokenSecrets(client)).map((secret) => readTokenSecret(secret, now))
    return found.flatMap(({info}) =>
      info ? [{word: info.token.id, summary: info.description}] : [],
    )
  },
  credentials: async (client, signal) => {
    const {readCredentials} = await import('../controllers/approval/bootstrap-credentials.ts')
    const {BOOTSTRAPPER_NAMESPACES} = await import('../csr/bootstrapper.ts')
    const found = await Promise.all(
      BOOTSTRAPPER_NAMESPACES.map((namespace) => readCredentials(client, namespace, {signal})),
    )
    return found
      .flat()
      .map(({id, kind, namespace}) => ({word: id, summary: `${kind}, ${namespace}`}))
  },
  'revoked-credentials': async (client) => {
    const {rememberedCredentials} =
      await import('../control-plane/bootstrap-credentials/remembered.ts')
    const found = await rememberedCredentials(client)
    return found.map(({id, kind, namespace}) => ({word: id, summary: `${kind}, ${namespace}`}))
  },
  nodes: async ({nodes}, signal) => named((await nodes.list({signal})).items),
  machines: async ({machines}, signal) => named((await machines.list({signal})).items),
}

/** The CAs of a control plane on this machine. */
async function fromPlane(
  kind: 'authorities' | 'added-authorities',
  flags: ReadonlyMap<string, string>,
): Promise<Candidate[]> {
  const {loadPlane} = await import('../control-plane/config/stored.ts')
  const {wholeCatalog} = await import('../control-plane/certificates.ts')
  const {dirOf} = await import('./folders.ts')
  const plane = await loadPlane(dirOf(flags.get('dir')))
  if (kind === 'authorities')
    return (await wholeCatalog(plane)).authorities.map(({id}) => ({word: id}))
  return plane.settings.authorities.map(({name, description}) => ({
    word: name,
    summary: description,
  }))
}

async function fromProgram(kind: NameKind): Promise<Candidate[]> {
  if (kind === 'controllers') {
    const {EMBEDDED_CONTROLLERS} = await import('../controllers/catalog.ts')
    return ['*', ...Object.keys(EMBEDDED_CONTROLLERS)].map((word) => ({word}))
  }
  const {LEAVES} = await import('../pki/catalog.ts')
  return ['all', ...LEAVES.map(({id}) => id)].map((word) => ({word}))
}

async function fromCluster(
  find: FromCluster,
  flags: ReadonlyMap<string, string>,
): Promise<Candidate[]> {
  const {limitOf, withCluster} = await import('./with-cluster.ts')
  const limit = limitOf({'request-timeout': flags.get('request-timeout')})
  const signal = AbortSignal.timeout(limit ?? LONGEST_WAIT)
  const late = new Promise<Candidate[]>((resolve) => {
    signal.addEventListener('abort', () => resolve([]), {once: true})
  })
  const place = Object.fromEntries(
    ['kubeconfig', 'dir', 'context', 'cluster', 'request-timeout'].map((name) => [
      name,
      flags.get(name),
    ]),
  )
  // Nothing may be asked or said while a word is completed.
  const plugin = {isTerminal: false, isSilent: true}
  return await Promise.race([
    withCluster(place, ({client}) => find(client, signal), {plugin}),
    late,
  ])
}

/** Names of the cluster that the command line means. A shell shows no errors: without an answer nothing is offered. */
export const clusterNames: NameSource = async (kind, flags) => {
  try {
    if (kind === 'authorities' || kind === 'added-authorities') return await fromPlane(kind, flags)
    const find = FROM_CLUSTER[kind]
    return find ? await fromCluster(find, flags) : await fromProgram(kind)
  } catch {
    return []
  }
}
