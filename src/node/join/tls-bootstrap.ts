import {timeLeft} from '../../client/patience.ts'
import type {TrustedClusterInfo} from '../../discovery/cluster-info.ts'
import {discardPendingKey} from '../../enrollment/pending-key.ts'
import {messageOf, TrustError} from '../../errors.ts'
import {isRefused, requireAccepted} from '../acceptance.ts'
import {takeOver, type HeldPair} from '../certificate-manager/held-pair.ts'
import {chooseNewer} from '../certificate-manager/pair.ts'
import {ownPairOf} from '../bootstrap-credential.ts'
import {requestCertificate} from '../certificate-manager/request-certificate.ts'
import {pendingKeyIn} from '../cert-dir.ts'
import {clientCertificate} from '../client-certificate.ts'
import {withCertificate} from '../cluster-access.ts'
import type {CredentialStore, StoredCredential} from '../credential-store.ts'
import {getFirstCertificate} from '../first-certificate.ts'
import {headWitness} from '../head-witness.ts'
import {
  findCredential,
  findValid,
  type JoinContext,
  type JoinPhase,
  recordOf,
  requireClusterInfo,
  requireCredential,
  storeOf,
} from './phase.ts'
import {formatTimestamp} from '../../runtime.ts'

/** The node's own certificate in the kubeconfig that the user brought, if it is valid and newer than the one in use. */
async function findNewer(context: JoinContext, valid: StoredCredential | undefined) {
  const credential = await findCredential(context)
  const own = credential && ownPairOf(credential, context.settings.nodeName)
  if (!own) return undefined
  const {notBefore, notAfter} = own.certificate
  const now = context.clock.now()
  if (notBefore > now || notAfter <= now) return undefined
  return chooseNewer(valid, own, now) === own ? own : undefined
}

/**
 * The pair that is there, unless the cluster refuses it, as when its CA was replaced while this machine was off. Then it is as good as an
 * expired one: its key is known. A pair that only kubelet.conf holds may be of another cluster: that is for a person to tell.
 */
async function findAccepted(
  {clock, tell, patience}: JoinContext,
  info: TrustedClusterInfo,
  held: HeldPair | undefined,
): Promise<HeldPair | undefined> {
  if (!held || !(await isRefused(info, held, clock.now(), patience))) return held
  if (held.from === 'kubelet.conf') {
    throw new TrustError(
      'CERTIFICATE_INVALID',
      `the cluster at ${info.server} does not accept the certificate in ${held.file}`,
      {
        hints: [
          'if this machine belonged to another cluster, move that file away and join again',
          'nothing was changed',
        ],
      },
    )
  }
  tell(`the cluster does not accept the certificate in ${held.file}, though it has not expired`)
  return undefined
}

/** An approver that is running needs less. */
const RENEWAL_PATIENCE = 30_000

/** As the kubelet does with the pair of its kubeconfig. It works without: whatever renews certificates here tries it again. */
async function renewGiven(
  {clock, settings, tell, warn, patience, freshKeys}: JoinContext,
  info: TrustedClusterInfo,
  store: CredentialStore,
  given: HeldPair,
): Promise<void> {
  try {
    const keys = await freshKeys()
    const wanted = clientCertificate(settings.nodeName)
    const witness = headWitness(settings.dir)
    // The rest of the command needs time, too.
    const longest = Math.min(RENEWAL_PATIENCE, (timeLeft(patience) ?? Infinity) / 2)
    const issued = await withCertificate(info, given, (client) =>
      requestCertificate(client, wanted, keys, {clock, witness, patience: longest}),
    )
    await requireAccepted(info, issued.chain, issued, clock.now(), patience)
    const file = await store.update(issued.certificatePem, issued.keyPem, clock.now())
    tell(`it was renewed with a new key, in ${file}`)
  } catch (error) {
    warn(`the certificate that was given could not be renewed yet: ${messageOf(error)}`)
  }
}

export const tlsBootstrap: JoinPhase = {
  name: 'tls-bootstrap',
  summary: "get this machine's own certificate",

  async plan(context) {
    await requireClusterInfo(context)
    const {current} = storeOf(context)
    const valid = await findValid(context)
    if (valid && valid.from !== 'link') return [`use ${valid.file} as ${current}`]
    if (await findNewer(context, valid))
      return [`store the certificate that was given as ${current}`]
    if (valid) return []
    await requireCredential(context)
    const {nodeName} = context.settings
    return [`request the certificate of "${nodeName}", and store it as ${current}`]
  },

  async run(context) {
    const {settings, clock, tell, lock, certDir, patience} = context
    const info = await requireClusterInfo(context)
    await lock.hold()
    const store = storeOf(context)
    const record = recordOf(context)
    const held = await findValid(context)
    const valid = await findAccepted(context, info, held)
    await record?.noteName(settings.nodeName)
    await takeOver({dir: settings.dir, store}, clock, tell, {keepsConf: context.isKubelets})
    const own = await findNewer(context, valid)
    if (own) {
      await requireAccepted(info, own, own, clock.now(), patience)
      const file = await store.update(own.certificatePem, own.keyPem, clock.now())
      return tell(`the certificate that was given is this node's own, and was stored in ${file}`)
    }
    if (valid?.isGiven) return await renewGiven(context, info, store, valid)
    if (valid) {
      if (await record?.isMade(pendingKeyIn(certDir)))
        await discardPendingKey(pendingKeyIn(certDir))
      const until = formatTimestamp(valid.certificate.notAfter)
      return tell(`the certificate is kept: it is valid until ${until}`)
    }
    const file = await getFirstCertificate({
      ...context,
      info,
      store,
      nodeName: settings.nodeName,
      isRefused: held !== undefined,
      credential: await requireCredential(context),
      witness: headWitness(settings.dir),
      timeout: settings.timeout ?? settings.certificateTimeout,
    })
    tell(`the certificate was issued and stored in ${file}`)
  },
}
