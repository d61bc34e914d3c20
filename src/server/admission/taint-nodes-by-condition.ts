import type {Node} from '../../api/node.ts'
import {isResource} from '../kernel/admission.ts'
import type {AdmissionPlugin} from '../kernel/admission.ts'

const NOT_READY = {key: 'node.kubernetes.io/not-ready', effect: 'NoSchedule'}

/** A new node takes no pods until it is ready. */
export const taintNodesByCondition: AdmissionPlugin = {
  name: 'TaintNodesByCondition',
  admit(operation) {
    const {verb, subresource, object} = operation
    if (verb !== 'create' || subresource !== '' || object === undefined) return
    if (!isResource(operation, '', 'nodes')) return
    const node = object as Node
    const taints = node.spec?.taints ?? []
    const isThere = taints.some(
      ({key, effect}) => key === NOT_READY.key && effect === NOT_READY.effect,
    )
    if (!isThere) node.spec = {...node.spec, taints: [...taints, {...NOT_READY}]}
  },
}
