import {TokenBuckets} from '../limits/token-buckets.ts'
import {tooManyRequests} from '../kernel/status.ts'
import {isResource} from '../kernel/admission.ts'
import type {AdmissionPlugin} from '../kernel/admission.ts'

/** A kubelet sends at most 100 Events at once, and five or six for each of its pods when it starts. It tries again later. */
const RATE = {perSecond: 1, burst: 500, keys: 10_000}

/** A node cannot push out the Events of others with a flood. Kubernetes has a similar plugin, which is off by default. */
export function eventRateLimit(rate = RATE): AdmissionPlugin {
  const buckets = new TokenBuckets(rate)
  return {
    name: 'EventRateLimit',
    admit(operation, {user, clock}) {
      if (!isResource(operation, '', 'events') || operation.verb === 'delete') return
      if (!user.groups?.includes('system:nodes')) return
      const seconds = buckets.spend(user.username, clock.now())
      if (seconds > 0)
        throw tooManyRequests(seconds, 'this node writes too many events; try again later')
    },
  }
}
