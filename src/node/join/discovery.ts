import {timeLeft} from '../../client/patience.ts'
import {discover} from '../../discovery/discover.ts'
import type {TrustedClusterInfo} from '../../discovery/cluster-info.ts'
import {keepClusterInfo, outdatedClusterInfo, requireSameCluster} from '../cluster-info-store.ts'
import {discoveryOf, type JoinContext, type JoinPhase} from './phase.ts'

/** Writes nothing: an untrusted server must not leave any trace. */
async function find(context: JoinContext): Promise<TrustedClusterInfo> {
  const {settings, clock, input, environment, connections, patience} = context
  const info = await discover(discoveryOf(settings), {
    clock,
    input,
    environment,
    connections,
    timeout: timeLeft(patience) ?? settings.timeout ?? settings.discoveryTimeout,
    onWait: patience.onWait,
  })
  for (const warning of info.warnings) context.warn(warning)
  await requireSameCluster(settings.dir, info)
  context.info = info
  return info
}

export const discovery: JoinPhase = {
  name: 'discovery',
  summary: 'find out which cluster to trust',

  async plan(context) {
    const outdated = await outdatedClusterInfo(context.settings.dir, await find(context))
    if (context.isKubelets) return []
    return outdated.map((path) => `store what is known about the cluster in ${path}`)
  },

  async run(context) {
    const {settings, lock, tell} = context
    const info = await find(context)
    await lock.hold()
    // Another run may have changed the folder in the meantime.
    await requireSameCluster(settings.dir, info)
    // Of a kubelet's own files, those that it needs to trust the cluster change together with its certificate.
    if (!context.isKubelets) await keepClusterInfo(settings.dir, info)
    tell(`the cluster at ${info.server} is trusted`)
  },
}
