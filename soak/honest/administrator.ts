import type {ApiClient} from '../../src/client/api-client.ts'
import {sleep} from '../../src/runtime.ts'
import type {Ledger} from './ledger.ts'
import type {Waits} from './waits.ts'

const PAUSE = 40
/** Older ConfigMaps are deleted, so that a list stays as long as it is. */
const KEPT = 200

/** Works with ConfigMaps as a person with kubectl, or a pipeline, does: each request is timed, each write remembered. */
export async function administer(
  admin: ApiClient,
  ledger: Ledger,
  waits: Waits,
  signal: AbortSignal,
): Promise<void> {
  const {namespace} = ledger
  const {configMaps} = admin
  const time = async <T>(what: string, work: () => Promise<T>) => {
    const result = await waits.time(what, signal, work)
    await sleep(PAUSE, signal)
    return result
  }
  for (let number = 0; !signal.aborted; number++) {
    const name = `note-${number}`
    const metadata = {name, namespace}
    const first = `first ${number}`
    const second = `second ${number}`
    if (await time('create', () => configMaps.create({metadata, data: {text: first}}, {signal})))
      ledger.wrote(name, first)
    await time('get', () => configMaps.get(metadata, {signal}))
    ledger.forget(name)
    if (await time('update', () => configMaps.update({metadata, data: {text: second}}, {signal})))
      ledger.wrote(name, second)
    await time('list', () => configMaps.list({namespace, signal}))
    if (number < KEPT) continue
    const old = `note-${number - KEPT}`
    ledger.forget(old)
    const gone = await time('delete', async () => {
      await configMaps.delete({name: old, namespace}, {signal})
      return true
    })
    if (gone) ledger.deleted(old)
  }
}
