import type {CommandTable} from '../cli/manifest.ts'

/** Every command of the program, each in a file that is loaded only when it runs. */
export const COMMANDS: CommandTable = {
  init: () => import('./init/index.ts'),
  'init:phase': () => import('./init/phase.ts'),
  serve: () => import('./serve.ts'),
  status: () => import('./status.ts'),
  reset: () => import('./reset.ts'),
  'token:create': () => import('./token/create.ts'),
  'token:list': () => import('./token/list.ts'),
  'token:delete': () => import('./token/delete.ts'),
  'token:generate': () => import('./token/generate.ts'),
  'certificate:check-expiration': () => import('./certificate/check-expiration.ts'),
  'certificate:renew': () => import('./certificate/renew.ts'),
  'kubeconfig:user': () => import('./kubeconfig/user.ts'),
  autocomplete: () => import('./autocomplete.ts'),
  version: () => import('./version.ts'),
}
