import type {Attack} from '../attack.ts'
import {administrators} from './administrators.ts'
import {anonymous} from './anonymous.ts'
import {apply} from './apply.ts'
import {auditLines} from './audit-lines.ts'
import {certificates} from './certificates.ts'
import {connections} from './connections.ts'
import {configMaps} from './config-maps.ts'
import {events} from './events.ts'
import {http2Frames} from './http2-frames.ts'
import {hugeKeys} from './huge-keys.ts'
import {labels} from './labels.ts'
import {largeRequests} from './large-requests.ts'
import {leases} from './leases.ts'
import {malformed} from './malformed.ts'
import {mirrorPods} from './mirror-pods.ts'
import {nodeStatus} from './node-status.ts'
import {oddBodies} from './odd-bodies.ts'
import {owners} from './owners.ts'
import {patches} from './patches.ts'
import {quantities} from './quantities.ts'
import {reads} from './reads.ts'
import {rejoins} from './rejoins.ts'
import {reviews} from './reviews.ts'
import {servingNames} from './serving-names.ts'
import {slowReaders} from './slow-readers.ts'
import {slowUploads} from './slow-uploads.ts'
import {streams} from './streams.ts'
import {thread} from './thread.ts'
import {usages} from './usages.ts'
import {watches} from './watches.ts'
import {withdrawnTokens} from './withdrawn-tokens.ts'
import {yaml} from './yaml.ts'

/** All of them, in the order of the table: one request that stops it, what fills it, what holds it, what gets in. */
export const ATTACKS: readonly Attack[] = [
  quantities,
  owners,
  usages,
  yaml,
  patches,
  labels,
  apply,
  oddBodies,
  largeRequests,
  configMaps,
  nodeStatus,
  events,
  leases,
  certificates,
  mirrorPods,
  reviews,
  reads,
  thread,
  slowUploads,
  slowReaders,
  streams,
  connections,
  watches,
  http2Frames,
  malformed,
  anonymous,
  auditLines,
  hugeKeys,
  administrators,
  rejoins,
  servingNames,
  withdrawnTokens,
]

export function attackNamed(name: string): Attack {
  const found = ATTACKS.find((attack) => attack.name === name)
  if (found !== undefined) return found
  throw new Error(`no attack "${name}"; there are: ${ATTACKS.map((one) => one.name).join(', ')}`)
}
