import {openMemoryStorage} from '../../src/storage/memory.ts'
import {storageConformance} from './conformance.ts'
import {embeddedConformance} from './embedded-conformance.ts'

const openEmpty = () => {
  const storage = openMemoryStorage()
  const compact = (revision: number) => storage.compact(revision)
  return Promise.resolve({storage, compact, dispose: () => Promise.resolve()})
}

storageConformance('memory', openEmpty)
embeddedConformance('memory', openEmpty)
