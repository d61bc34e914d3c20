import {resolve} from 'node:path'
import {parseDuration} from '../../bootstrap/durations.ts'
import type {ServerAccess} from '../../client/server-access.ts'
import {obtainCertificate, type ObtainedCertificate} from '../../control-plane/requests/obtain.ts'
import {
  certificateDestination,
  kubeconfigDestination,
  pairDestination,
  type Destination,
} from '../../control-plane/requests/destination.ts'
import {wantedCertificate, type LabelledCertificate} from '../../control-plane/requests/wanted.ts'
import {TrustError} from '../../errors.ts'
import type {KeyAlgorithm} from '../../pki/keys.ts'
import type {Clock} from '../../runtime.ts'
import type {ClusterFlagValues} from '../cluster.ts'
import {createProgress} from '../progress.ts'
import {clusterCommand} from '../same-cluster.ts'
import {withCluster} from '../with-cluster.ts'

export interface RequestFlags extends ClusterFlagValues {
  name: string | undefined
  user: string | undefined
  group: string[] | undefined
  service: string[] | undefined
  signer: string | undefined
  usages: string[] | undefined
  duration: string | undefined
  'key-algorithm': KeyAlgorithm | undefined
  key: string | undefined
  out: string | undefined
  'kubeconfig-out': string | undefined
  force: boolean | undefined
  wait: boolean
  timeout: string
  quiet: boolean
  verbose: boolean
}

const duration = (text: string | undefined, flag: string): number | undefined =>
  text === undefined ? undefined : parseDuration(text, flag)

/** Requests the certificate that the flags of `certificate request` describe. */
export async function requestCertificate(
  flags: RequestFlags,
  clock: Clock,
): Promise<ObtainedCertificate> {
  const wanted = wantedCertificate({
    user: flags.user,
    groups: flags.group,
    hosts: flags.service,
    signer: flags.signer,
    usages: flags.usages,
    duration: duration(flags.duration, '--duration'),
  })
  const label = flags.name === undefined ? wanted.label : fileName(flags.name)
  const timeout = duration(flags.timeout, '--timeout') ?? 0
  const {tell} = createProgress(flags)
  // Here --user is the user of the certificate.
  const chosen = {...flags, user: undefined}
  return await withCluster(
    chosen,
    async ({client, access}) =>
      obtainCertificate(
        client,
        wanted,
        destinationOf(flags, label, wanted, access),
        {
          name: flags.name,
          keyFile: flags.key,
          algorithm: flags['key-algorithm'],
          force: flags.force ?? false,
          wait: flags.wait,
          timeout,
          server: access.server,
          tell,
          commandFor: (command) => clusterCommand(chosen, command),
        },
        clock,
      ),
    // Repeated where each wait is shown.
    {retry: {attempts: 1}},
  )
}

function fileName(name: string): string {
  if (/^\w[\w.@-]*$/.test(name) && name.length <= 200) return name
  throw new TrustError('USAGE', 'the name cannot be used as a file name', {
    hints: ['use letters, digits, "-", "_" and "."; or leave the name out'],
  })
}

function destinationOf(
  flags: RequestFlags,
  label: string,
  {subject}: LabelledCertificate,
  access: ServerAccess,
): Destination {
  const file = flags['kubeconfig-out']
  const ownKey = flags.key !== undefined
  if (file !== undefined) {
    if (flags.user === undefined) {
      throw new TrustError('USAGE', '--kubeconfig-out needs --user: a kubeconfig is for a user')
    }
    return kubeconfigDestination(file, access, {userName: subject.commonName, ownKey})
  }
  const folder = resolve(flags.out ?? '.')
  return ownKey ? certificateDestination(folder, label) : pairDestination(folder, label)
}
