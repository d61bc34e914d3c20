import {openMemoryStorage} from '../../src/storage/memory.ts'
import {storageConformance} from './conformance.ts'

storageConformance('memory', () =>
  Promise.resolve({storage: openMemoryStorage(), dispose: () => Promise.resolve()}),
)
