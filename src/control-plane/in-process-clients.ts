import type {UserInfo} from '../api/meta.ts'
import {createApiClient, type ApiClient} from '../client/api-client.ts'
import {InProcessTransport} from '../client/in-process-transport.ts'
import type {Handler} from '../server/kernel/api-request.ts'

const AGENT = 'kube-controller-manager'
/** What the controllers watch with. */
export const READER: UserInfo = {
  username: 'system:kube-controller-manager',
  groups: ['system:authenticated'],
}

/** The server itself, as in the objects that it creates. */
export const SERVER: UserInfo = {
  username: 'system:apiserver',
  groups: ['system:masters', 'system:authenticated'],
}

/** The account of one controller, as kube-controller-manager has them with --use-service-account-credentials. */
export const writerFor = (controller: string): UserInfo => ({
  username: `system:serviceaccount:kube-system:${controller}`,
  groups: ['system:serviceaccounts', 'system:serviceaccounts:kube-system', 'system:authenticated'],
})

/** A client of the server in this process. */
export function clientOf(
  handler: Handler,
  caller: UserInfo,
  serverCertificate: () => Uint8Array,
): ApiClient {
  const transport = new InProcessTransport(handler, caller, serverCertificate)
  return createApiClient(transport, {userAgent: AGENT})
}
