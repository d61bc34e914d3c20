import {inputInTime, timeLeft} from '../client/patience.ts'
import {connectAsAdmin} from '../control-plane/admin.ts'
import type {Plane} from '../control-plane/config/plane.ts'
import {endpointOf} from '../control-plane/config/plane.ts'
import {resolvePlane} from '../control-plane/config/resolve.ts'
import {joinPlane} from '../control-plane/join-plane/join-plane.ts'
import {receive, withEtcd} from '../control-plane/join-plane/received.ts'
import {identityOf} from '../control-plane/plane-storage.ts'
import {leaseNameOf} from '../control-plane/server-identity.ts'
import {discover} from '../discovery/discover.ts'
import {elsewhere, TrustError} from '../errors.ts'
import {withCredential} from '../node/cluster-access.ts'
import {tokenCredential} from '../node/bootstrap-credential.ts'
import {join, resolve as resolvePath} from 'node:path'
import {dirOf} from './folders.ts'
import {choicesOf} from './init-flags.ts'
import {onInterruption} from './interruption.ts'
import type {JoinSession} from './join-session.ts'
import {ownProgram} from './own-program.ts'
import {canAsk, confirm} from './prompt.ts'
import {createProgress} from './progress.ts'
import type {EtcdFlagValues} from './server-flags.ts'
import {readCertificateKey} from './upload-flags.ts'

interface JoinPlaneFlags extends EtcdFlagValues {
  dir?: string | undefined
  'cert-dir'?: string | undefined
  'certificate-key'?: string | undefined
  'apiserver-advertise-address'?: string | undefined
  'apiserver-bind-port'?: string | undefined
  'apiserver-cert-extra-sans'?: string[] | undefined
  'bind-address'?: string | undefined
  'node-name'?: string | undefined
  quiet: boolean
  verbose: boolean
}

const ONE_ADDRESS =
  'the cluster has no --control-plane-endpoint: nodes know the address of one server, and lose the cluster with it'

/** What `join --control-plane --output json` prints: as `init` does. */
export interface JoinedPlane {
  endpoint: string
  kubeconfig: string
  dir: string
  /** The name of its server in "status", and of the Lease that shows it to the others. */
  server: string
}

/** Makes this machine a part of the control plane, with a server on the same etcd. */
export async function joinControlPlane(
  flags: JoinPlaneFlags,
  {settings, patience, clock}: JoinSession['request'],
): Promise<JoinedPlane> {
  const readKey = () => readCertificateKey(flags['certificate-key'])
  const key = await inputInTime(readKey, patience)
  if (!key) {
    throw new TrustError('USAGE', '--control-plane needs --certificate-key', {
      hints: [
        elsewhere(
          'run "trustadm init phase upload-certs" on a machine of the control plane: it prints the key',
        ),
      ],
    })
  }
  const {token} = settings
  if (token === undefined) {
    throw new TrustError('USAGE', '--control-plane needs a token', {hints: ['add --token']})
  }
  const progress = createProgress(flags)
  const info = await discover(settings.discovery, {
    clock,
    input: process.stdin,
    timeout: timeLeft(patience) ?? settings.timeout ?? settings.discoveryTimeout,
    onWait: patience.onWait,
  })
  for (const warning of info.warnings) progress.warn(warning)
  progress.tell(`the cluster at ${info.server} is trusted`)
  const received = await withCredential(
    info,
    tokenCredential(token),
    (client) => receive(client, key, info),
    {patience},
  )
  const dir = dirOf(flags.dir)
  const given = choicesOf(flags)
  const certDir = resolvePath(dir, flags['cert-dir'] ?? 'pki')
  const choices = await withEtcd(received, given, certDir, canAsk() ? confirm : undefined)
  const resolve = () => resolvePlane({dir, flags: {...choices, ...given}})
  const release = onInterruption(() => {
    progress.stop()
    return 'run the command again to resume'
  })
  try {
    const context = {
      plane: await resolve(),
      clock,
      tell: progress.tell,
      warn: progress.warn,
      program: ownProgram(),
      connect: connectAsAdmin,
    }
    const plane = await joinPlane(received, context, resolve, progress)
    if (plane.settings.controlPlaneEndpoint === undefined) progress.warn(ONE_ADDRESS)
    return described(plane)
  } finally {
    release()
    progress.stop()
  }
}

const described = (plane: Plane): JoinedPlane => ({
  endpoint: endpointOf(plane),
  kubeconfig: join(plane.dir, 'admin.conf'),
  dir: plane.dir,
  server: leaseNameOf(identityOf(plane)),
})
