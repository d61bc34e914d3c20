import type {TrustedClusterInfo} from '../../discovery/cluster-info.ts'
import {hasSubject} from '../../enrollment/check.ts'
import {TrustError} from '../../errors.ts'
import {readClusterInfo} from '../cluster-info-store.ts'
import {CredentialStore, type StoredCredential} from '../credential-store.ts'
import {clientCertificate} from '../client-certificate.ts'
import {nodeFile} from '../node-files.ts'
import type {JoinContext} from './phase.ts'

export const storeOf = ({settings}: Pick<JoinContext, 'settings'>): CredentialStore =>
  new CredentialStore(nodeFile(settings.dir, 'pki'))

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
  const {dir, nodeName} = context.settings
  const current = await storeOf(context).read()
  if (!current) return undefined
  const {certificate} = current
  if (!hasSubject(certificate, clientCertificate(nodeName).subject)) {
    throw new TrustError(
      'CONFLICT',
      `${dir} contains the certificate of "${certificate.subject.commonName}", not of the node "${nodeName}"`,
      {hints: ['use another folder with --dir', `or move ${dir} away first`]},
    )
  }
  const now = context.clock.now()
  return certificate.notBefore <= now && certificate.notAfter > now ? current : undefined
}

export async function requireValid(context: JoinContext): Promise<StoredCredential> {
  const current = await findValid(context)
  if (current) return current
  throw new TrustError('NOT_FOUND', `there is no valid certificate in ${context.settings.dir}`, {
    hints: ['run "trustadm join phase tls-bootstrap" first, or "trustadm join" as a whole'],
  })
}

export function requireToken({settings}: JoinContext): string {
  if (settings.token !== undefined) return settings.token
  throw new TrustError('USAGE', 'there is no token to authenticate with', {
    hints: [
      'add --tls-bootstrap-token, --token-file or $TRUSTADM_TOKEN',
      'to create a token, run "trustadm token create" on the control plane',
    ],
  })
}
