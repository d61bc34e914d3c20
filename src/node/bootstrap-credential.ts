import {credentialProblems} from '../client/credentials.ts'
import type {KubeconfigCredentials} from '../client/kubeconfig-build.ts'
import type {ServerAccess} from '../client/server-access.ts'
import {readBootstrapKubeconfig} from '../discovery/bootstrap-kubeconfig.ts'
import type {IssuedChain} from '../enrollment/check.ts'
import {elsewhere, hasCode, TrustError, type Hint} from '../errors.ts'
import {parseBundle} from '../pki/bundle.ts'
import type {Clock} from '../runtime.ts'
import {isOwnCertificate} from './client-certificate.ts'

/** What a machine authenticates with until it has a certificate of its own. */
export interface BootstrapCredential {
  access: Pick<ServerAccess, 'bearerToken' | 'clientCertificate'>
  /** As bootstrap-kubelet.conf contains it. */
  inKubeconfig: () => Promise<KubeconfigCredentials>
  /** Says what a refusal by the server means for this credential. */
  explain: (error: unknown) => unknown
}

export function tokenCredential(token: string): BootstrapCredential {
  return {
    access: {bearerToken: () => Promise.resolve(token)},
    inKubeconfig: () => Promise.resolve({token}),
    explain: explainFor('the token', {
      lost: elsewhere(
        'to create a new one, run "trustadm token create --print-join-command" on the control plane',
      ),
      unknown: () => [
        elsewhere(
          'it does not exist, has expired, or is not for authentication: check with "trustadm token list" on the control plane',
        ),
        elsewhere('to create a new one, run "trustadm token create --print-join-command" there'),
      ],
      forbidden: [
        'its groups need the role system:node-bootstrapper, which "trustadm init phase cluster-info" gives to the default group',
        elsewhere(
          'to create a token with that group, run "trustadm token create --print-join-command" on the control plane',
        ),
      ],
    }),
  }
}

/** The credential in a kubeconfig: a client certificate or a token, as its content or as a file. */
export async function kubeconfigCredential(
  path: string,
  clock: Clock,
): Promise<BootstrapCredential> {
  const access = await readBootstrapKubeconfig(path)
  const {bearerToken, clientCertificate: pair} = access
  return {
    access: {bearerToken, clientCertificate: pair},
    inKubeconfig: async () => pair ?? {token: (await bearerToken?.()) ?? ''},
    explain: explainFor(`the credential in ${path}`, {
      lost: elsewhere(
        'to create a new one, run "trustadm bootstrap-credential create" on the control plane',
      ),
      unknown: () => [
        ...credentialProblems(access, clock),
        elsewhere(
          'it may have been revoked: check with "trustadm bootstrap-credential list" on the control plane',
        ),
        elsewhere('to create a new one, run "trustadm bootstrap-credential create" there'),
      ],
      forbidden: [
        "it needs the role system:node-bootstrapper; a node's own certificate is only for that node: check --node-name",
        elsewhere(
          'to create one with that role, run "trustadm bootstrap-credential create" on the control plane',
        ),
      ],
    }),
  }
}

/** A certificate of the node that somebody else requested. */
export interface OwnPair extends IssuedChain {
  certificatePem: string
  keyPem: string
}

/** The node's own certificate, if that is what the credential is. Any other is only good for requesting one. */
export function ownPairOf(
  {access: {clientCertificate: pair}}: BootstrapCredential,
  nodeName: string,
): OwnPair | undefined {
  const [certificate, ...intermediates] = pair ? parseBundle(pair.certificate) : []
  if (!pair || !certificate) return undefined
  if (!isOwnCertificate(certificate, nodeName)) return undefined
  // Files are written as certificate and key, one after the other.
  return {certificate, intermediates, certificatePem: `${pair.certificate}\n`, keyPem: pair.key}
}

const explainFor =
  (what: string, hints: {lost: Hint; unknown: () => Hint[]; forbidden: Hint[]}) =>
  (error: unknown): unknown => {
    if (!hasCode(error, 'UNAUTHORIZED', 'FORBIDDEN')) return error
    const {code, message, facts} = error
    if (code === 'UNAUTHORIZED' && typeof facts.request === 'string') {
      return new TrustError(
        code,
        `the cluster no longer accepts ${what}: it expired, or was deleted or revoked, while the certificate request "${facts.request}" waited`,
        {
          cause: error,
          facts,
          hints: [hints.lost, 'then run this command again with it: it resumes'],
        },
      )
    }
    return code === 'UNAUTHORIZED'
      ? new TrustError(code, `the cluster does not accept ${what}`, {
          cause: error,
          facts,
          hints: hints.unknown(),
        })
      : new TrustError(code, `${what} does not allow this: ${message}`, {
          cause: error,
          facts,
          hints: hints.forbidden,
        })
  }
