import type {ConfigMap} from '../../api/core.ts'
import type {ApiClient} from '../../client/api-client.ts'
import {
  certificateId,
  certificateKey,
  credentialAuthorities,
  type CredentialAuthority,
} from '../../controllers/approval/bootstrap-credentials.ts'
import {BUNDLE_KEY, bundlePlace} from '../../csr/bootstrapper.ts'
import {hasCode} from '../../errors.ts'
import {encodeBundle} from '../../pki/bundle.ts'
import {certificatePem} from '../../pki/certificate.ts'

type Client = Pick<ApiClient, 'configMaps'>

/** How often others may get in between before it is an error. */
const ATTEMPTS = 5

/** What the ConfigMap holds for these CAs: their bundle, and the certificate that each signed. */
function dataOf(authorities: readonly CredentialAuthority[]): Record<string, string> {
  const leaves = authorities.flatMap((one) =>
    one.leaf ? [[certificateKey(certificateId(one)), certificatePem(one.leaf)] as const] : [],
  )
  return {
    [BUNDLE_KEY]: encodeBundle(authorities.map(({authority}) => authority)),
    ...Object.fromEntries(leaves),
  }
}

async function write(
  {configMaps}: Client,
  found: ConfigMap | undefined,
  namespace: string,
  authorities: readonly CredentialAuthority[],
): Promise<void> {
  const {namespace: home, name} = bundlePlace(namespace)
  const ref = {namespace: home, name}
  const data = dataOf(authorities)
  // Refuses a bundle that the server would not trust, such as one with too many CAs.
  credentialAuthorities({metadata: ref, data})
  if (found && authorities.length > 0) await configMaps.update({...found, data})
  else if (authorities.length > 0) await configMaps.create({metadata: ref, data})
  else if (found) {
    const {uid, resourceVersion} = found.metadata
    await configMaps.delete(ref, {uid, resourceVersion})
  }
}

/** Changes which CAs the ConfigMap of a bootstrapper names; deletes it if none is left. */
export async function changeBundle(
  client: Client,
  namespace: string,
  change: (found: readonly CredentialAuthority[]) => readonly CredentialAuthority[],
): Promise<void> {
  for (let attempt = 1; ; attempt += 1) {
    const found = await client.configMaps.find(bundlePlace(namespace))
    try {
      await write(client, found, namespace, change(found ? credentialAuthorities(found) : []))
      return
    } catch (error) {
      if (attempt === ATTEMPTS || !hasCode(error, 'CONFLICT', 'ALREADY_EXISTS', 'NOT_FOUND'))
        throw error
    }
  }
}
