import {discardPendingKey} from '../../enrollment/pending-key.ts'
import {requireAccepted} from '../acceptance.ts'
import {chooseNewer} from '../certificate-manager/pair.ts'
import {ownPairOf} from '../bootstrap-credential.ts'
import {pendingKeyIn} from '../cert-dir.ts'
import type {StoredCredential} from '../credential-store.ts'
import {getFirstCertificate} from '../first-certificate.ts'
import {headWitness} from '../head-witness.ts'
import {nodeRecord} from '../node-files.ts'
import {
  findCredential,
  findValid,
  type JoinContext,
  type JoinPhase,
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

export const tlsBootstrap: JoinPhase = {
  name: 'tls-bootstrap',
  summary: "get this machine's own certificate",

  async plan(context) {
    await requireClusterInfo(context)
    const valid = await findValid(context)
    const {current} = storeOf(context)
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
    const record = nodeRecord(settings.dir)
    const valid = await findValid(context)
    await record.noteName(settings.nodeName)
    const own = await findNewer(context, valid)
    if (own) {
      await requireAccepted(info, own, own, clock.now(), patience)
      const file = await store.update(own.certificatePem, own.keyPem, clock.now())
      return tell(`the certificate that was given is this node's own, and was stored in ${file}`)
    }
    if (valid) {
      if (await record.isMade(pendingKeyIn(certDir))) await discardPendingKey(pendingKeyIn(certDir))
      const until = formatTimestamp(valid.certificate.notAfter)
      return tell(`the certificate is kept: it is valid until ${until}`)
    }
    const file = await getFirstCertificate({
      ...context,
      info,
      store,
      nodeName: settings.nodeName,
      credential: await requireCredential(context),
      witness: headWitness(settings.dir),
      timeout: settings.timeout ?? settings.certificateTimeout,
    })
    tell(`the certificate was issued and stored in ${file}`)
  },
}
