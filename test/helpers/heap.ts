import {setFlagsFromString} from 'node:v8'
import {runInNewContext} from 'node:vm'

/** Bytes on the heap that something still refers to. */
export function usedHeap(): number {
  setFlagsFromString('--expose-gc')
  const collect = runInNewContext('gc') as () => void
  collect()
  return process.memoryUsage().heapUsed
}
