import {join, resolve} from 'node:path'
import * as Flags from '@oclif/core/flags'
import {dir} from './flags.ts'

/** The flags of every command that works with any cluster. */
export const clusterFlags = {
  kubeconfig: Flags.string({
    helpGroup: 'COMMON',
    helpValue: '<file>',
    summary:
      'the kubeconfig of the cluster [default: admin.conf of --dir if given; else $KUBECONFIG; else admin.conf of the control plane on this machine; else ~/.kube/config]',
  }),
  dir,
  context: Flags.string({
    helpGroup: 'COMMON',
    helpValue: '<name>',
    summary: 'the context of the kubeconfig [default: its current one]',
  }),
  cluster: Flags.string({
    helpGroup: 'COMMON',
    helpValue: '<name>',
    summary: 'the cluster of the kubeconfig, if not that of the context',
  }),
  user: Flags.string({
    helpGroup: 'COMMON',
    helpValue: '<name>',
    summary: 'the user of the kubeconfig, if not that of the context',
  }),
  'request-timeout': Flags.string({
    helpGroup: 'COMMON',
    helpValue: '<duration>',
    summary:
      'how long to wait for each response of the server, as in "1m"; 0 for no limit [default: 15s]',
  }),
}

export interface ClusterFlagValues {
  kubeconfig?: string | undefined
  dir?: string | undefined
  context?: string | undefined
  cluster?: string | undefined
  user?: string | undefined
  'request-timeout'?: string | undefined
}

/** The file to read; undefined to search for it as kubectl does. */
export async function findKubeconfig(
  {kubeconfig, dir: named}: ClusterFlagValues,
  environment: Record<string, string | undefined> = process.env,
): Promise<string | undefined> {
  if (kubeconfig !== undefined) return kubeconfig
  if (named !== undefined) return join(resolve(named), 'admin.conf')
  if (environment.KUBECONFIG) return undefined
  const {lookAt} = await import('../fs/file-checks.ts')
  const {defaultDir} = await import('../fs/default-folders.ts')
  const own = join(defaultDir(environment), 'admin.conf')
  return (await lookAt(own)) ? own : undefined
}
