import type {Secret} from '../../api/core.ts'
import {
  formatCertificateKey,
  generateCertificateKey,
  type CertificateKey,
} from '../../bootstrap/certificate-key.ts'
import {generateToken} from '../../bootstrap/generate-token.ts'
import {describeToken} from '../../bootstrap/token-info.ts'
import {toSecret} from '../../bootstrap/token-secret.ts'
import type {ApiClient} from '../../client/api-client.ts'
import {hasCode} from '../../errors.ts'
import {AUTHORITIES} from '../../pki/catalog.ts'
import {ownCatalog} from '../certificates.ts'
import {etcdOf} from '../config/etcd.ts'
import {ensurePlaneKey} from '../plane-key.ts'
import {CERTS_SECRET, sealCerts} from '../shared-certs.ts'
import {certsRbac} from './rbac.ts'
import {EXACTLY, ensureObjects} from './objects.ts'
import {asAdmin, type InitContext, type InitPhase} from './phase.ts'

const TWO_HOURS = 2 * 3_600_000
const DESCRIPTION = 'Proxy for managing TTL for the kubeadm-certs secret'
const ATTEMPTS = 5

/** A token that is good for nothing but to expire: the Secret, which belongs to it, is then deleted with it. */
async function createOwner(client: ApiClient, now: Date): Promise<Secret> {
  const usages = {signing: false, authentication: false}
  const options = {description: DESCRIPTION, ttl: TWO_HOURS, usages}
  return await client.secrets.create(toSecret(describeToken(generateToken(), options, now)))
}

async function publish({secrets}: ApiClient, wanted: Secret): Promise<void> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      const found = await secrets.find(CERTS_SECRET)
      if (!found) {
        await secrets.create(wanted)
        return
      }
      const {ownerReferences = []} = wanted.metadata
      const metadata = {...found.metadata, ownerReferences}
      await secrets.update({...found, metadata, data: wanted.data ?? {}})
      return
    } catch (error) {
      if (attempt === ATTEMPTS || !hasCode(error, 'CONFLICT', 'ALREADY_EXISTS')) throw error
    }
  }
}

async function upload(
  client: ApiClient,
  {plane, clock, tell, warn}: InitContext,
  key: CertificateKey,
): Promise<void> {
  const {authorities} = await ownCatalog(plane)
  const isShared = ({id}: {id: string}) => AUTHORITIES.some((one) => one.id === id)
  // One that an earlier version has set up has none yet. Without etcd, no other machine can have a server.
  if (etcdOf(plane.settings) && !plane.joinedControlPlane) await ensurePlaneKey(plane)
  const {metadata: system} = await client.namespaces.get('kube-system')
  const data = await sealCerts(plane, authorities.filter(isShared), key, system.uid ?? '')
  const left = authorities.filter((one) => !isShared(one)).map(({id}) => id)
  const owner = await createOwner(client, clock.now())
  const {name = '', uid = ''} = owner.metadata
  const reference = {apiVersion: 'v1', kind: 'Secret', name, uid}
  const ownerReferences = [{...reference, controller: true, blockOwnerDeletion: true}]
  await publish(client, {metadata: {...CERTS_SECRET, ownerReferences}, type: 'Opaque', data})
  await ensureObjects(client, certsRbac(EXACTLY), tell)
  tell('the CAs and their keys were uploaded, encrypted; they are deleted in two hours')
  if (left.length > 0) warn(`not uploaded, copy them yourself: the CAs ${left.join(', ')}`)
}

/** kubeadm's upload-certs: what the next machine of the control plane needs, encrypted with a key that only a person carries there. */
export const uploadCerts: InitPhase = {
  name: 'upload-certs',
  summary: 'upload the CAs, encrypted, for "join --control-plane"',

  plan: () =>
    Promise.resolve(['upload the CAs and their keys, encrypted, for two hours to kubeadm-certs']),

  async run(context) {
    const key = context.certificateKey ?? generateCertificateKey()
    await asAdmin(context, (client) => upload(client, context, key))
    context.uploadedWith = formatCertificateKey(key)
  },
}
