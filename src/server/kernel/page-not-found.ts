import type {ApiResponse} from './api-request.ts'

/** What Kubernetes answers under paths that it serves nothing of: text, not a Status. */
export const PAGE_NOT_FOUND: ApiResponse = {
  status: 404,
  headers: {'Content-Type': 'text/plain; charset=utf-8', 'X-Content-Type-Options': 'nosniff'},
  body: '404 page not found\n',
}
