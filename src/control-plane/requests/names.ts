import type {ApiClient} from '../../client/api-client.ts'
import {printable} from '../../client/printable.ts'
import {TrustError} from '../../errors.ts'

/** As kubectl prints and takes them. */
const PREFIX =
  /^(?:csr|certificatesigningrequests?)(?:\.certificates\.k8s\.io|\.v1\.certificates\.k8s\.io)?\//
/** A shorter beginning is more likely a mistake than a name. */
const SHORTEST_BEGINNING = 3
const MOST_SHOWN = 5

/** The name in `csr/NAME` and `certificatesigningrequest.certificates.k8s.io/NAME`. */
export const plainName = (text: string): string => text.replace(PREFIX, '')

/**
 * The name of the request that a person means: as it is, with the kind in front, or the beginning of exactly one name. A name that
 * nobody has is returned as it is: whoever uses it says so.
 */
export async function resolveName({csrs}: Pick<ApiClient, 'csrs'>, text: string): Promise<string> {
  const name = plainName(text)
  if (name.length < SHORTEST_BEGINNING || (await csrs.find({name}))) return name
  const {items} = await csrs.list()
  const found = items.flatMap(({metadata}) =>
    metadata.name?.startsWith(name) ? [metadata.name] : [],
  )
  if (found.length <= 1) return found[0] ?? name
  const shown = found.slice(0, MOST_SHOWN).map((one) => printable(one))
  const more = found.length > MOST_SHOWN ? `, and ${found.length - MOST_SHOWN} more` : ''
  throw new TrustError(
    'CONFLICT',
    `${found.length} certificate requests begin with "${printable(name)}"`,
    {
      facts: {name, found: found.slice(0, MOST_SHOWN)},
      hints: [`give more of the name: ${shown.join(', ')}${more}`],
    },
  )
}

export const resolveNames = async (
  client: Pick<ApiClient, 'csrs'>,
  names: readonly string[],
): Promise<string[]> => await Promise.all(names.map((name) => resolveName(client, name)))
