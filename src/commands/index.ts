import type {CommandTable} from '../cli/manifest.ts'

/** Every command of the program, each in a file that is loaded only when it runs. */
export const COMMANDS: CommandTable = {
  init: () => import('./init/index.ts'),
  'init:phase': () => import('./init/phase.ts'),
  join: () => import('./join/index.ts'),
  'join:phase': () => import('./join/phase.ts'),
  serve: () => import('./serve.ts'),
  status: () => import('./status.ts'),
  reset: () => import('./reset.ts'),
  'token:create': () => import('./token/create.ts'),
  'token:list': () => import('./token/list.ts'),
  'token:delete': () => import('./token/delete.ts'),
  'token:generate': () => import('./token/generate.ts'),
  'certificate:list': () => import('./certificate/list.ts'),
  'certificate:show': () => import('./certificate/show.ts'),
  'certificate:approve': () => import('./certificate/approve.ts'),
  'certificate:deny': () => import('./certificate/deny.ts'),
  'certificate:review': () => import('./certificate/review.ts'),
  'certificate:request': () => import('./certificate/request.ts'),
  'certificate:download': () => import('./certificate/download.ts'),
  'certificate:allow-rejoin': () => import('./certificate/allow-rejoin.ts'),
  'certificate:check-expiration': () => import('./certificate/check-expiration.ts'),
  'certificate:renew': () => import('./certificate/renew.ts'),
  'kubeconfig:user': () => import('./kubeconfig/user.ts'),
  autocomplete: () => import('./autocomplete.ts'),
  version: () => import('./version.ts'),
}
