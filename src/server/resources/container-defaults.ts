import {canonicalQuantity, canonicalizeResources} from '../validation/quantity.ts'
import type {Container, DownwardItem, HttpGet, Probe} from '../../api/pod.ts'

/** A tag of `latest`, given or left out, may mean something else tomorrow. */
export function pullPolicyFor(image: string): string {
  const [name = '', digest] = image.split('@')
  const tag = /:([^:/]+)$/.exec(name)?.[1]
  const isLatest = tag === 'latest' || (tag === undefined && digest === undefined)
  return isLatest ? 'Always' : 'IfNotPresent'
}

function defaultHttpGet(get: HttpGet | undefined): void {
  if (get === undefined) return
  get.path ??= '/'
  get.scheme ??= 'HTTP'
}

function defaultProbe(probe: Probe | undefined): void {
  if (probe === undefined) return
  probe.timeoutSeconds ??= 1
  probe.periodSeconds ??= 10
  probe.successThreshold ??= 1
  probe.failureThreshold ??= 3
  defaultHttpGet(probe.httpGet)
  if (probe.grpc) probe.grpc.service ??= ''
}

/** References to the pod's own fields. */
export function defaultReferences({fieldRef, resourceFieldRef}: DownwardItem): void {
  if (fieldRef) fieldRef.apiVersion ??= 'v1'
  if (resourceFieldRef) {
    resourceFieldRef.divisor = canonicalQuantity(resourceFieldRef.divisor ?? '0')
  }
}

/** A limit without a request is also the request. */
function defaultResources(container: Container): void {
  const resources = (container.resources ??= {})
  canonicalizeResources(resources.limits)
  canonicalizeResources(resources.requests)
  if (resources.limits) resources.requests = {...resources.limits, ...resources.requests}
}

/** Defaults of one container, as Kubernetes' SetDefaults_Container and its like. */
export function defaultContainer(container: Container, hostNetwork: boolean): void {
  container.imagePullPolicy ??= pullPolicyFor(container.image ?? '')
  container.terminationMessagePath ??= '/dev/termination-log'
  container.terminationMessagePolicy ??= 'File'
  defaultResources(container)
  for (const port of container.ports ?? []) {
    port.protocol ??= 'TCP'
    if (hostNetwork && !port.hostPort && port.containerPort) port.hostPort = port.containerPort
  }
  for (const {valueFrom} of container.env ?? []) if (valueFrom) defaultReferences(valueFrom)
  for (const probe of [container.livenessProbe, container.readinessProbe, container.startupProbe]) {
    defaultProbe(probe)
  }
  defaultHttpGet(container.lifecycle?.postStart?.httpGet)
  defaultHttpGet(container.lifecycle?.preStop?.httpGet)
}
