import type {Clock} from '../../runtime.ts'
import type {Plane} from '../config/plane.ts'
import type {ServeOptions} from '../serve.ts'
import {catchUp, followShared} from './follow-shared.ts'
import {isShared} from './share.ts'
import {followTriggers} from './triggers.ts'

/** What a server does for rotations: annotations trigger them, and it follows those of other machines on the same etcd. */
export function rotationDuties(
  plane: Plane,
  options: {clock: Clock; log: (line: string) => void},
): Pick<ServeOptions, 'alongside' | 'beforeServing' | 'rotationProblem'> {
  if (!isShared(plane)) {
    return {
      alongside: (client, {signal}) => followTriggers(plane, client, {...options, signal}),
    }
  }
  let problem: string | undefined
  const onProblem = (found: string | undefined) => (problem = found)
  return {
    rotationProblem: () => problem,
    beforeServing: (storage) => catchUp(plane, storage, options),
    alongside: async (client, {signal, reload}) => {
      await Promise.all([
        followTriggers(plane, client, {...options, signal}),
        followShared(plane, client, {...options, signal, reload, onProblem}),
      ])
    },
  }
}
