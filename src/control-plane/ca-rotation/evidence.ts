import type {ApiClient} from '../../client/api-client.ts'
import {ACCOUNT_TOKEN_TYPE} from '../../csr/bootstrapper.ts'
import {LEAVES} from '../../pki/catalog.ts'
import type {Clock} from '../../runtime.ts'
import type {Plane} from '../config/plane.ts'
import {readNamedSigners} from '../server-report.ts'
import {keyIdOf} from './published.ts'
import {readSeenEverywhere, type Reach} from './seen-everywhere.ts'
import type {Evidence, TokenSecret} from './dependent.ts'

/** The users of the control plane's own certificates. */
export const OWN_USERS: ReadonlySet<string> = new Set(
  LEAVES.filter(({usages}) => usages.includes('client auth')).map(
    ({subject}) => subject.commonName,
  ),
)

export interface EvidenceOptions {
  clock: Clock
  warn: (line: string) => void
  /** How other servers of the control plane are asked. */
  reach?: Reach | undefined
}

/** Only what cannot be refilled is of interest, but that is for others to tell. */
async function readTokenSecrets({secrets}: Pick<ApiClient, 'secrets'>): Promise<TokenSecret[]> {
  const {items} = await secrets.list({fieldSelector: `type=${ACCOUNT_TOKEN_TYPE}`})
  return items.flatMap(({metadata, data}) => {
    const keyId = keyIdOf(Buffer.from(data?.token ?? '', 'base64').toString())
    return keyId === undefined
      ? []
      : [{name: `${metadata.namespace ?? ''}/${metadata.name ?? ''}`, keyId}]
  })
}

/** Everything that is known about who uses which CA: what nodes report, who was seen, and what was issued. */
export async function gatherEvidence(
  plane: Plane,
  client: Pick<ApiClient, 'configMaps' | 'leases' | 'nodes' | 'raw' | 'secrets'>,
  {clock, warn, reach}: EvidenceOptions,
): Promise<Evidence> {
  const [{items: nodes}, everywhere, tokenSecrets, signers] = await Promise.all([
    client.nodes.list(),
    readSeenEverywhere(plane, client, {clock, warn, reach}),
    readTokenSecrets(client),
    readNamedSigners(client),
  ])
  return {nodes, ...everywhere, tokenSecrets, signers}
}
