import type {NodeGraph} from './authz/node/node-graph.ts'
import type {Registry} from './registry/registry.ts'
import {parse} from './registry/stored-object.ts'

/** Keeps the graph in step with the stored pods and volumes, commit by commit. */
export function feedNodeGraph(registry: Registry, graph: NodeGraph): void {
  const pods = registry.store('', 'pods')
  for (const stored of pods?.range('') ?? []) graph.upsertPod(parse(stored))
  pods?.onEvents((events) => {
    for (const {current, previous} of events) {
      if (current !== undefined) graph.upsertPod(parse(current))
      else if (previous !== undefined) graph.removePod(previous.namespace, previous.name)
    }
  })
  const volumes = registry.store('', 'persistentvolumes')
  for (const stored of volumes?.range('') ?? []) graph.upsertVolume(parse(stored))
  volumes?.onEvents((events) => {
    for (const {current, previous} of events) {
      if (current !== undefined) graph.upsertVolume(parse(current))
      else if (previous !== undefined) graph.removeVolume(previous.name)
    }
  })
}
