export {createHealth} from './health.ts'
export type {Health, HealthCheck, HealthEndpoint} from './health.ts'
