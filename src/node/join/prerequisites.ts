import type {TrustedClusterInfo} from '../../discovery/cluster-info.ts'
import type {DiscoveryOptions} from '../../discovery/plan.ts'
import {elsewhere, TrustError} from '../../errors.ts'
import {
  kubeconfigCredential,
  tokenCredential,
  type BootstrapCredential,
} from '../bootstrap-credential.ts'
import {readClusterInfo} from '../cluster-info-store.ts'
import {CredentialStore, type StoredCredential} from '../credential-store.ts'
import {isOwnCertificate} from '../client-certificate.ts'
import type {JoinContext, JoinSettings} from './phase.ts'

export const storeOf = ({certDir}: Pick<JoinContext, 'certDir'>): CredentialStore =>
  new CredentialStore(certDir)

/** The cluster that this run has found, or that an earlier one has stored. */
export async function requireClusterInfo(context: JoinContext): Promise<TrustedClusterInfo> {
  const info = context.info ?? (await readClusterInfo(context.settings.dir))
  if (info) return (context.info = info)
  throw new TrustError('NOT_FOUND', `${context.settings.dir} does not say which cluster to trust`, {
    hints: ['run "trustadm join phase discovery" first, or "trustadm join" as a whole'],
  })
}

/** The current certificate, if it is still valid. One of another node is refused: the folder belongs to that node. */
export async function findValid(context: JoinContext): Promise<StoredCredential | undefined> {
  const {nodeName} = context.settings
  const {certDir} = context
  const current = await storeOf(context).read()
  if (!current) return undefined
  const {certificate} = current
  if (!isOwnCertificate(certificate, nodeName)) {
    throw new TrustError(
      'CONFLICT',
      `${certDir} contains the certificate of "${certificate.subject.commonName}", not of the node "${nodeName}"`,
      {
        hints: [
          'use another folder with --dir',
          'or, if that node is not needed any more, run "trustadm node leave" first',
        ],
      },
    )
  }
  const now = context.clock.now()
  return certificate.notBefore <= now && certificate.notAfter > now ? current : undefined
}

export async function requireValid(context: JoinContext): Promise<StoredCredential> {
  const current = await findValid(context)
  if (current) return current
  throw new TrustError('NOT_FOUND', `there is no valid certificate in ${context.certDir}`, {
    hints: ['run "trustadm join phase tls-bootstrap" first, or "trustadm join" as a whole'],
  })
}

/** How the cluster is found. */
export const discoveryOf = ({discovery, bootstrapKubeconfig}: JoinSettings): DiscoveryOptions => ({
  ...discovery,
  kubeconfig: bootstrapKubeconfig,
})

/** What to authenticate with before the node has its certificate; undefined if nothing was given. */
export async function findCredential({
  settings: {bootstrapKubeconfig, token},
  clock,
}: Pick<JoinContext, 'settings' | 'clock'>): Promise<BootstrapCredential | undefined> {
  if (bootstrapKubeconfig !== undefined) {
    return await kubeconfigCredential(bootstrapKubeconfig, clock)
  }
  return token === undefined ? undefined : tokenCredential(token)
}

export async function requireCredential(context: JoinContext): Promise<BootstrapCredential> {
  const credential = await findCredential(context)
  if (credential) return credential
  throw new TrustError('USAGE', 'there is no token to authenticate with', {
    hints: [
      'add --tls-bootstrap-token, --token-file or $TRUSTADM_TOKEN; or use --bootstrap-kubeconfig',
      elsewhere('to create a token, run "trustadm token create" on the control plane'),
    ],
  })
}
