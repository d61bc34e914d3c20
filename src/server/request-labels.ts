import type {ApiRequest} from './kernel/api-request.ts'
import type {RequestInfo} from './authz/request-info.ts'
import type {RequestLabels} from './metrics/request-metrics.ts'
import type {Resource} from './kernel/resource.ts'

const VERBS: Record<string, string> = {
  get: 'GET',
  list: 'LIST',
  watch: 'WATCH',
  create: 'POST',
  update: 'PUT',
  patch: 'PATCH',
  delete: 'DELETE',
  deletecollection: 'DELETECOLLECTION',
}

const OTHER: RequestLabels = {
  verb: 'other',
  group: '',
  version: '',
  resource: '',
  subresource: '',
  scope: '',
  dryRun: false,
}

/** Describes requests in the labels of kube-apiserver's metrics. Callers may ask for any path; only served ones become labels. */
export function createRequestLabels(
  resources: readonly Resource[],
): (request: ApiRequest, info: RequestInfo | undefined) => RequestLabels {
  const served = new Set(
    resources.flatMap(({group, plural, version, extraVersions = [], subresources = {}}) =>
      [version, ...extraVersions.map((extra) => extra.version)].flatMap((one) =>
        ['', ...Object.keys(subresources)].map((sub) => `${group}/${one}/${plural}/${sub}`),
      ),
    ),
  )
  return (request, info) => {
    const verb = VERBS[info?.verb ?? ''] ?? 'other'
    if (info?.kind !== 'resource') return {...OTHER, verb}
    const {group, version, resource, subresource} = info
    if (!served.has(`${group}/${version}/${resource}/${subresource}`)) return {...OTHER, verb}
    const apply =
      verb === 'PATCH' && request.headers['content-type']?.includes('apply-patch') === true
    return {
      verb: apply ? 'APPLY' : verb,
      group,
      version,
      resource,
      subresource,
      scope: info.name !== '' ? 'resource' : info.namespace !== '' ? 'namespace' : 'cluster',
      dryRun: request.query.has('dryRun'),
    }
  }
}
