import {storageConformance} from './conformance.ts'
import {SharedStore} from './shared-storage.ts'

storageConformance('a store with several writers', () => {
  const store = new SharedStore()
  const other = store.open()
  return Promise.resolve({
    storage: store.open(),
    other,
    compact: (revision) => store.storage.compact(revision),
    dispose: async () => {
      await other.close()
      await store.storage.close()
    },
  })
})
