export {createOpenapi} from './documents.ts'
export type {Openapi} from './documents.ts'
