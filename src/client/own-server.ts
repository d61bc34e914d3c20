import type {ApiClient} from './api-client.ts'

/** Whether a version is that of trustadm's own server: it does some things that Kubernetes does not. */
export const isOwnVersion = (gitVersion: string): boolean => gitVersion.includes('+trustadm.')

/** Whether the server is trustadm's own, as it says itself. */
export async function isOwnServer(client: Pick<ApiClient, 'version'>): Promise<boolean> {
  const {gitVersion} = await client.version()
  return isOwnVersion(gitVersion)
}
