const OWN_LABELS = new Set([
  'kubernetes.io/hostname',
  'kubernetes.io/os',
  'kubernetes.io/arch',
  'beta.kubernetes.io/os',
  'beta.kubernetes.io/arch',
  'node.kubernetes.io/instance-type',
  'beta.kubernetes.io/instance-type',
  'topology.kubernetes.io/zone',
  'topology.kubernetes.io/region',
  'failure-domain.beta.kubernetes.io/zone',
  'failure-domain.beta.kubernetes.io/region',
])

const OWN_DOMAINS = ['kubelet.kubernetes.io', 'node.kubernetes.io']
const RESERVED_DOMAINS = ['kubernetes.io', 'k8s.io']

const isWithin = (domain: string, domains: readonly string[]) =>
  domains.some((one) => domain === one || domain.endsWith(`.${one}`))

/**
 * Kubernetes' own labels are not for a node to give itself, but for those that describe it: workloads are placed by the
 * others, `node-restriction.kubernetes.io/…` above all. Labels of other domains are free.
 */
function isForbidden(label: string): boolean {
  const slash = label.indexOf('/')
  const domain = slash === -1 ? '' : label.slice(0, slash)
  return (
    isWithin(domain, RESERVED_DOMAINS) && !isWithin(domain, OWN_DOMAINS) && !OWN_LABELS.has(label)
  )
}

type Labels = Record<string, string>

/** The labels, sorted, that differ and are not the node's to change. */
export function forbiddenChanges(next: Labels = {}, old: Labels = {}): string[] {
  const keys = new Set([...Object.keys(next), ...Object.keys(old)])
  return [...keys].filter((key) => next[key] !== old[key] && isForbidden(key)).sort()
}
