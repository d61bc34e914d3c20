export {createDiscovery} from './discovery.ts'
export type {Discovery} from './discovery.ts'
export {versionDocument} from './version-document.ts'
