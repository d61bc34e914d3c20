import type {Node} from '../../api/node.ts'
import {formatTimestamp} from '../../bootstrap/timestamp.ts'
import type {ApiClient} from '../../client/api-client.ts'
import type {TrustedClusterInfo} from '../../discovery/cluster-info.ts'
import {hasCode} from '../../errors.ts'
import {privateKeyPem, publicKeyDer, type KeyPair} from '../../pki/keys.ts'
import {pinOf} from '../../pki/pins.ts'
import {awaitCertificate} from '../await-certificate.ts'
import {clientRequest} from '../client-request.ts'
import {byCertificate, byToken, withServer} from '../cluster-access.ts'
import {isVouchedFor, requireRequested, wrong} from '../issued-certificate.ts'
import {requireNameFree} from '../name-in-use.ts'
import {discardPendingKey, keepPendingKey, readPendingKey} from '../pending-key.ts'
import {explainRefusal} from '../refusals.ts'
import {isOutOfDate, submitRequest, type Submitted} from '../submit-request.ts'
import {whoAmI} from '../who-am-i.ts'
import {findValid, requireClusterInfo, requireToken, storeOf} from './prerequisites.ts'
import type {JoinContext, JoinPhase} from './phase.ts'

/** As long as kubeadm waits. */
const LONGEST_WAIT = 300_000
const FINAL = ['CERTIFICATE_DENIED', 'CERTIFICATE_FAILED', 'CERTIFICATE_INVALID'] as const

interface Asked extends Submitted {
  keys: KeyPair
}

async function takeKey(context: JoinContext): Promise<KeyPair> {
  const {dir} = context.settings
  const pending = await readPendingKey(dir)
  if (pending) return pending
  const keys = await context.freshKeys()
  await keepPendingKey(dir, keys)
  return keys
}

/** Asks for the certificate. Where an earlier request of the same key has led to one that is over, another key asks. */
async function ask(context: JoinContext, client: ApiClient): Promise<Asked> {
  const {dir, nodeName} = context.settings
  for (;;) {
    const keys = await takeKey(context)
    const submitted = await submitRequest(client, await clientRequest(nodeName, keys))
    const {csr, isTakenUp} = submitted
    if (!isOutOfDate(csr, context.clock.now())) {
      context.tell(
        `the certificate request ${csr.metadata.name ?? ''} ${isTakenUp ? 'of an earlier run is taken up' : 'was made'}`,
      )
      return {...submitted, keys}
    }
    context.tell('the certificate of an earlier request has expired: another one is asked for')
    await discardPendingKey(dir)
  }
}

async function obtain(context: JoinContext, client: ApiClient) {
  const {nodeName, certificateTimeout: timeout = LONGEST_WAIT} = context.settings
  const standing = await requireNameFree(client, nodeName)
  const {csr, keys} = await ask(context, client)
  const pin = pinOf({publicKeyDer: publicKeyDer(keys.publicKey)})
  const allow = `trustadm certificate allow-rejoin ${nodeName} --pin ${pin}`
  const pem = await awaitCertificate(client, csr, {
    timeout,
    onPending: ({metadata: {name = ''}}) => context.note(pendingNote(name, allow, standing)),
    onTrouble: ({message}) => context.note(`waiting for the cluster: ${message}`),
    pendingHints: standing ? [`or let this machine take the name over with "${allow}"`] : [],
  })
  return {pem, keys}
}

function pendingNote(request: string, allow: string, standing: Node | undefined): string {
  const approve = `on the control plane, run "trustadm certificate approve ${request}"`
  return standing
    ? [
        `waiting for an operator: there is already a Node "${standing.metadata.name ?? ''}"`,
        `to let this machine take its place, run "${allow}" on the control plane`,
        `to decide on this request alone, "trustadm certificate approve ${request}"`,
      ].join('\n')
    : `waiting for approval\n${approve}`
}

/** Where the CA of the cluster does not vouch for its clients, the cluster itself has to say that it knows this one. */
async function requireUsable(
  context: JoinContext,
  info: TrustedClusterInfo,
  {pem, keys}: {pem: string; keys: KeyPair},
): Promise<void> {
  const {clock, settings} = context
  const certificate = requireRequested(pem, settings.nodeName, keys, clock.now())
  if (isVouchedFor(certificate, info.ca, pem, clock.now())) return
  const credentials = byCertificate({
    certificatePem: pem,
    keyPem: privateKeyPem(keys.privateKey),
  })
  const user = await withServer(info, credentials, whoAmI)
  if (user !== certificate.subject.commonName) {
    throw wrong('neither the CA of the cluster nor its server vouch for it')
  }
}

export const tlsBootstrap: JoinPhase = {
  name: 'tls-bootstrap',
  summary: "get this machine's own certificate",

  async plan(context) {
    await requireClusterInfo(context)
    if (await findValid(context)) return []
    requireToken(context)
    const {nodeName} = context.settings
    return [`ask for the certificate of "${nodeName}", and keep it as ${storeOf(context).current}`]
  },

  async run(context) {
    const {settings, clock, tell, turn} = context
    const info = await requireClusterInfo(context)
    await turn.hold()
    const valid = await findValid(context)
    if (valid) {
      await discardPendingKey(settings.dir)
      tell(
        `the certificate is kept: it is valid until ${formatTimestamp(valid.certificate.notAfter)}`,
      )
      return
    }
    const token = requireToken(context)
    try {
      const obtained = await withServer(info, byToken(token), (client) => obtain(context, client))
      await requireUsable(context, info, obtained)
      const {pem, keys} = obtained
      const file = await storeOf(context).update(pem, privateKeyPem(keys.privateKey), clock.now())
      await discardPendingKey(settings.dir)
      tell(`the certificate was issued, and is kept in ${file}`)
    } catch (error) {
      // With the same key, the next run would find the same request, and the same answer.
      if (hasCode(error, ...FINAL)) await discardPendingKey(settings.dir)
      throw explainRefusal(error)
    }
  },
}
