import {parseDuration} from '../../bootstrap/durations.ts'
import {shellWord} from '../../client/printable.ts'
import {SHORTEST_SECONDS} from '../../csr/signers.ts'
import {messageOf, TrustError} from '../../errors.ts'
import {lookAt} from '../../fs/file-checks.ts'
import {
  defaultWindow,
  type NodeHome,
  openNodeHome,
  servingStore,
  takeOverPair,
} from '../../node/agent/node-home.ts'
import type {NodeSession} from '../../node/agent/run-agent.ts'
import {parseRotationWindow} from '../../node/certificate-manager/rotation-deadline.ts'
import {kubeconfigCredential, ownPairOf} from '../../node/bootstrap-credential.ts'
import {nodeFile} from '../../node/node-files.ts'
import {nodeLock} from '../../node/node-lock.ts'
import {requireNodeName} from '../../node/node-name.ts'
import type {Clock} from '../../runtime.ts'
import {joinedDirOf} from '../folders.ts'
import type {AgentFlagValues, RenewalFlagValues} from './agent-flags.ts'

interface Surroundings {
  clock: Clock
  log: (line: string) => void
}

const ROTATE_CLIENT = 'RotateKubeletClientCertificate'

/** What `node run` works with. */
export async function openNodeSession(
  flags: AgentFlagValues,
  surroundings: Surroundings,
): Promise<NodeSession> {
  const rotateAt = flags['rotate-at']
  const window = rotateAt === undefined ? undefined : parseRotationWindow(rotateAt, '--rotate-at')
  const rotatesClient = readGates(flags['feature-gates'] ?? [])
  const session = await openRenewalSession(flags, surroundings)
  requireSameNode(session.home, flags['node-name'])
  return {
    ...session,
    window: window ?? session.window,
    rotatesClient,
    // The one of a kubelet has to follow the CAs with the client certificate.
    serving: flags.serving === true || (session.home.isKubelets && session.serving),
  }
}

/** The name of a node that has joined is in its certificate. */
function requireSameNode({dir, nodeName, isKubelets}: NodeHome, named: string | undefined): void {
  if (named === undefined || requireNodeName(named) === nodeName) return
  throw new TrustError(
    'CONFLICT',
    `${dir} is the folder of the node "${nodeName}", not of "${named}"`,
    {
      hints: [
        'leave out --node-name, or name the folder of the other node with --dir',
        isKubelets
          ? 'to give this machine another name, run "kubeadm reset" and then "kubeadm join" with that name'
          : `to give this machine another name, run "trustadm node leave" and then "trustadm join --node-name ${shellWord(named)}"`,
      ],
      facts: {nodeName, asked: named},
    },
  )
}

/** What `node renew` works with: it renews the certificates that the node has. */
export async function openRenewalSession(
  flags: RenewalFlagValues,
  {clock, log}: Surroundings,
): Promise<NodeSession> {
  const seconds = readSeconds(flags['cert-duration'])
  const dir = await joinedDirOf(flags.dir)
  const openHome = () => openNodeHome(dir, flags['cert-dir'], clock)
  const home = await openHome()
  const bootstrap = () => findCredential(dir, flags['bootstrap-kubeconfig'], clock)
  const given = async () => {
    if (flags['bootstrap-kubeconfig'] === undefined) return undefined
    try {
      const credential = await bootstrap()
      return credential && ownPairOf(credential, home.nodeName)
    } catch (error) {
      // A node that has joined needs it only once its certificate has expired. A mistake is better found before that.
      log(`warning: the file of --bootstrap-kubeconfig cannot be used now: ${messageOf(error)}`)
      return undefined
    }
  }
  return {
    home,
    window: defaultWindow(home),
    onChange: flags['on-change'],
    seconds,
    rotatesClient: true,
    serving: (await servingStore(home).currentFile()) !== undefined,
    bootstrap,
    given: await given(),
    lock: nodeLock(dir, log),
    openHome,
    takeOver: () => takeOverPair(dir, flags['cert-dir'], {clock, log}),
    clock,
    random: Math.random,
    log,
  }
}

/** In the named kubeconfig; else in bootstrap-kubelet.conf of the node, if there is one. */
async function findCredential(dir: string, named: string | undefined, clock: Clock) {
  const path = named ?? nodeFile(dir, 'bootstrapKubeconfig')
  const isThere = named !== undefined || (await lookAt(path)) !== undefined
  return isThere ? await kubeconfigCredential(path, clock) : undefined
}

function readSeconds(text: string | undefined): number | undefined {
  if (text === undefined) return undefined
  const seconds = Math.floor(parseDuration(text, '--cert-duration') / 1000)
  if (seconds >= SHORTEST_SECONDS) return seconds
  throw new TrustError('USAGE', '--cert-duration is shorter than 10 minutes', {
    hints: ['signers issue no shorter certificates: use "10m" or more'],
  })
}

/** Whether the gates let the client certificate be renewed. */
function readGates(gates: readonly string[]): boolean {
  let rotates = true
  for (const gate of gates) {
    const [name, value = ''] = gate.trim().split('=', 2)
    if (name !== ROTATE_CLIENT || !['true', 'false'].includes(value)) {
      throw new TrustError('USAGE', '--feature-gates has an unknown gate', {
        hints: [`use ${ROTATE_CLIENT}=true or ${ROTATE_CLIENT}=false`],
      })
    }
    rotates = value === 'true'
  }
  return rotates
}
