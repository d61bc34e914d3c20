import {TrustError} from '../../errors.ts'
import {generateKeys, parsePrivateKey, publicHalf, type KeyPair} from '../../pki/keys.ts'
import {requireAccepted} from '../acceptance.ts'
import type {BootstrapCredential} from '../bootstrap-credential.ts'
import {withCredential} from '../cluster-access.ts'
import type {ManagerOptions} from './certificate-manager.ts'
import type {NodeConnection} from './connection.ts'
import type {Pair} from './pair.ts'
import {requestCertificate, type IssuedPair, type RequestOptions} from './request-certificate.ts'
import {requireStarted, validityAt} from './rotation-deadline.ts'
import {formatTimestamp} from '../../runtime.ts'

export interface ObtainOptions extends Omit<RequestOptions, 'current' | 'signal'> {
  connection: () => NodeConnection
  /** Read each time, because the file of one may change. */
  bootstrap: () => Promise<BootstrapCredential | undefined>
}

/**
 * How a node gets its client certificate: with the one that it has, for a new key. Once that has expired, with a bootstrap credential
 * and for the old key, which the cluster knows: nobody has to confirm that this is still the same machine.
 */
export function obtainClient(options: ObtainOptions): ManagerOptions['obtain'] {
  const {connection: connect, bootstrap, clock, ...events} = options
  return async (wanted, current, signal) => {
    const connection = connect()
    const request = {clock, current, signal, ...events}
    const accepted = async (issued: IssuedPair) => {
      await requireAccepted(connection.info, issued.chain, issued, clock.now())
      return issued
    }
    if (current && isUsable(current, clock.now())) {
      const keys = await generateKeys()
      return await accepted(
        await connection.use((client) => requestCertificate(client, wanted, keys, request)),
      )
    }
    const credential = await bootstrap()
    if (!current || !credential) throw withoutCredential(current)
    const keys = keysOf(current)
    const issued = await withCredential(connection.info, credential, (client) =>
      requestCertificate(client, wanted, keys, request),
    )
    return {...(await accepted(issued)), hasOldKey: true}
  }
}

function isUsable({certificate}: Pair, now: Date): boolean {
  requireStarted(certificate, now, 'client')
  return validityAt(certificate, now) === 'valid'
}

function keysOf({keyPem}: Pair): KeyPair {
  const privateKey = parsePrivateKey(keyPem)
  return {privateKey, publicKey: publicHalf(privateKey)}
}

function withoutCredential(current: Pair | undefined): TrustError {
  const hints = [
    'run "trustadm join" again with a new token: it keeps the key, so that the cluster recognizes this machine',
    'or give "trustadm node run" a --bootstrap-kubeconfig',
  ]
  if (!current) {
    return new TrustError('NOT_JOINED', 'this node has no certificate', {hints})
  }
  const {notAfter} = current.certificate
  return new TrustError(
    'NODE_CERTIFICATE_EXPIRED',
    `the certificate of this node expired at ${formatTimestamp(notAfter)}, and there is nothing else to authenticate with`,
    {facts: {notAfter: notAfter.toISOString()}, hints},
  )
}
