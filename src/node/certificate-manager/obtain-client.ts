import {TrustError} from '../../errors.ts'
import {
  generateKeys,
  parsePrivateKey,
  publicHalf,
  publicKeyDer,
  type KeyPair,
} from '../../pki/keys.ts'
import {requireAccepted} from '../acceptance.ts'
import type {BootstrapCredential} from '../bootstrap-credential.ts'
import {requestName} from '../client-certificate.ts'
import {withCredential} from '../cluster-access.ts'
import {certificateExpired, type Self} from '../failures.ts'
import type {ManagerOptions} from './certificate-manager.ts'
import type {NodeConnection} from './connection.ts'
import type {Pair} from './pair.ts'
import {requestCertificate, type IssuedPair, type RequestOptions} from './request-certificate.ts'
import {requireStarted, validityAt} from './rotation-deadline.ts'

export interface ObtainOptions extends Omit<RequestOptions, 'current' | 'nameFor' | 'signal'> {
  connection: () => NodeConnection
  /** Read each time, because the file of one may change. */
  bootstrap: () => Promise<BootstrapCredential | undefined>
  self: Self
}

/**
 * How a node gets its client certificate: with the one that it has, for a new key. Once that has expired, with a bootstrap credential
 * and for the old key, which the cluster knows. If a person has to approve that, the request is the same at each attempt: one decision is enough,
 * whenever it is made.
 */
export function obtainClient(options: ObtainOptions): ManagerOptions['obtain'] {
  const {connection: connect, bootstrap, self, clock, ...events} = options
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
    if (!current) throw notJoined()
    if (!credential) throw certificateExpired(current.certificate.notAfter, self)
    const keys = keysOf(current)
    const {serial} = current.certificate
    const duration = wanted.seconds === undefined ? [] : [String(wanted.seconds)]
    const nameFor = (...more: string[]) =>
      requestName(wanted, publicKeyDer(keys.publicKey), serial, ...duration, ...more)
    const issued = await withCredential(connection.info, credential, (client) =>
      requestCertificate(client, wanted, keys, {...request, nameFor}),
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

const notJoined = (): TrustError =>
  new TrustError('NOT_JOINED', 'this node has no certificate', {
    hints: [
      'run "trustadm join" with a token',
      'or give "trustadm node run" a --bootstrap-kubeconfig',
    ],
  })
