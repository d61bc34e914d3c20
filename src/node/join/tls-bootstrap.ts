import type {CertificateSigningRequest} from '../../api/certificates.ts'
import type {Node} from '../../api/node.ts'
import {formatTimestamp} from '../../bootstrap/timestamp.ts'
import type {ApiClient} from '../../client/api-client.ts'
import {requireRequested} from '../../enrollment/check.ts'
import {approveCommand, issuedPem, nameOf} from '../../enrollment/outcome.ts'
import {discardPendingKey, ensurePendingKey} from '../../enrollment/pending-key.ts'
import {submitRequest} from '../../enrollment/request.ts'
import {waitForCertificate} from '../../enrollment/wait.ts'
import {hasCode} from '../../errors.ts'
import {parseCertificate} from '../../pki/certificate.ts'
import {ensureFolder} from '../../fs/folders.ts'
import {publicKeyDer} from '../../pki/keys.ts'
import {pinOf} from '../../pki/pins.ts'
import {requireAccepted} from '../acceptance.ts'
import {clientCertificate, clientRequest} from '../client-certificate.ts'
import {withToken} from '../cluster-access.ts'
import {nodeFile} from '../node-files.ts'
import {requireNameFree} from '../node-object.ts'
import type {JoinContext, JoinPhase} from './phase.ts'
import {findValid, requireClusterInfo, requireToken, storeOf} from './prerequisites.ts'

/** As long as kubeadm waits. */
const LONGEST_WAIT = 300_000
/** With the same key, the next run would find the same request and fail again. */
const FINAL = [
  'CERTIFICATE_DENIED',
  'CERTIFICATE_FAILED',
  'CERTIFICATE_INVALID',
  'CERTIFICATE_REQUEST_DELETED',
] as const

const ASK_AGAIN = ['then run the command again: it sends a request with a new key']

const pendingKeyOf = ({settings}: JoinContext): string => nodeFile(settings.dir, 'pendingKey')

/** Asks for the certificate. If the request of an earlier run led to one that has expired, asks with another key. */
async function ask(context: JoinContext, client: ApiClient) {
  const {nodeName, dir} = context.settings
  await ensureFolder(nodeFile(dir, 'pki'))
  for (;;) {
    const key = await ensurePendingKey(pendingKeyOf(context), context.freshKeys)
    const {csr, isResumed} = await submitRequest(client, await clientRequest(nodeName, key.keys))
    if (!hasExpired(csr, context.clock.now())) {
      context.tell(
        isResumed
          ? `resuming with the certificate request ${nameOf(csr)} of an earlier run`
          : `created the certificate request ${nameOf(csr)}`,
      )
      return {...key, csr}
    }
    context.tell('the certificate of an earlier request has expired: requesting a new one')
    await discardPendingKey(pendingKeyOf(context))
  }
}

function hasExpired(csr: CertificateSigningRequest, now: Date): boolean {
  const pem = issuedPem(csr)
  if (pem === undefined) return false
  try {
    return parseCertificate(pem).notAfter <= now
  } catch {
    // The later check says what is wrong with it.
    return false
  }
}

async function obtain(context: JoinContext, client: ApiClient) {
  const {nodeName, certificateTimeout: timeout = LONGEST_WAIT} = context.settings
  const existing = await requireNameFree(client, nodeName)
  const {csr, keys, pem: keyPem} = await ask(context, client)
  const pin = pinOf({publicKeyDer: publicKeyDer(keys.publicKey)})
  const allow = `trustadm certificate allow-rejoin ${nodeName} --pin ${pin}`
  const certificatePem = await waitForCertificate(client, csr, {
    timeout,
    onPending: () => context.note(pendingNote(csr, allow, existing)),
    onTrouble: ({message}) => context.note(`waiting for the cluster: ${message}`),
    hints: {
      CERTIFICATE_DENIED: ASK_AGAIN,
      CERTIFICATE_FAILED: ASK_AGAIN,
      CERTIFICATE_PENDING: [
        ...(existing ? [`or let this machine take over the name with "${allow}"`] : []),
        'then run this command again: it resumes',
      ],
    },
  })
  return {keys, keyPem, certificatePem}
}

function pendingNote(
  csr: CertificateSigningRequest,
  allow: string,
  existing: Node | undefined,
): string {
  const approve = approveCommand(nameOf(csr))
  return existing
    ? [
        `waiting for an operator: there is already a Node "${existing.metadata.name ?? ''}"`,
        `to let this machine take its place, run "${allow}" on the control plane`,
        `to decide on this request alone, "${approve}"`,
      ].join('\n')
    : `waiting for approval\non the control plane, run "${approve}"`
}

export const tlsBootstrap: JoinPhase = {
  name: 'tls-bootstrap',
  summary: "get this machine's own certificate",

  async plan(context) {
    await requireClusterInfo(context)
    if (await findValid(context)) return []
    requireToken(context)
    const {nodeName} = context.settings
    return [`request the certificate of "${nodeName}", and store it as ${storeOf(context).current}`]
  },

  async run(context) {
    const {settings, clock, tell, lock} = context
    const info = await requireClusterInfo(context)
    await lock.hold()
    const valid = await findValid(context)
    if (valid) {
      await discardPendingKey(pendingKeyOf(context))
      const until = formatTimestamp(valid.certificate.notAfter)
      return tell(`the certificate is kept: it is valid until ${until}`)
    }
    const token = requireToken(context)
    try {
      const {keys, ...pair} = await withToken(info, token, (client) => obtain(context, client))
      const wanted = clientCertificate(settings.nodeName)
      const chain = requireRequested(pair.certificatePem, wanted, keys, clock.now())
      await requireAccepted(info, chain, pair, clock.now())
      const {certificatePem, keyPem} = pair
      const file = await storeOf(context).update(certificatePem, keyPem, clock.now())
      await discardPendingKey(pendingKeyOf(context))
      tell(`the certificate was issued and stored in ${file}`)
    } catch (error) {
      if (hasCode(error, ...FINAL)) await discardPendingKey(pendingKeyOf(context))
      throw error
    }
  },
}
