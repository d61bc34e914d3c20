import {randomInt} from 'node:crypto'
import {isIPv4} from 'node:net'

import type {FieldError} from '../field-error.ts'
import {invalidValue} from '../field-error.ts'
import type {OperationContext} from '../resource.ts'
import {internalError} from '../status.ts'
import type {Service, ServiceSpec} from './service-types.ts'
import {hasClusterIP, hasNodePorts, isHeadless} from './service-types.ts'

/** kubeadm's default; its first address is the API server's own. */
export const SERVICE_CIDR = '10.96.0.0/12'
const FIRST_ADDRESS = 0x0a_60_00_00
const ADDRESSES = 2 ** 20
const FIRST_NODE_PORT = 30_000
const LAST_NODE_PORT = 32_767
const TRIES = 1000

const toText = (address: number) =>
  [24, 16, 8, 0].map((shift) => (address >>> shift) & 0xff).join('.')

const toNumber = (address: string) =>
  address.split('.').reduce((sum, part) => sum * 256 + Number(part), 0)

const isInRange = (address: string) => {
  const offset = isIPv4(address) ? toNumber(address) - FIRST_ADDRESS : -1
  return offset > 0 && offset < ADDRESSES - 1
}

function others({objects}: OperationContext, service: Service): ServiceSpec[] {
  const {namespace, name} = service.metadata
  return (objects.list('services', '') as Service[])
    .filter(({metadata}) => metadata.namespace !== namespace || metadata.name !== name)
    .flatMap(({spec}) => (spec ? [spec] : []))
}

/** A random one first: two creations at once then rarely choose the same. */
function free<T>(candidate: () => T, taken: Set<T>, what: string): T {
  for (let tries = 0; tries < TRIES; tries += 1) {
    const one = candidate()
    if (!taken.has(one)) return one
  }
  throw internalError(`failed to allocate a ${what}: range is full`)
}

function allocateFamilies(spec: ServiceSpec): void {
  const anyFamily = isHeadless(spec) && Object.keys(spec.selector ?? {}).length === 0
  spec.ipFamilyPolicy ??= anyFamily ? 'RequireDualStack' : 'SingleStack'
  if (spec.ipFamilies?.length) return
  spec.ipFamilies = anyFamily && spec.ipFamilyPolicy !== 'SingleStack' ? ['IPv4', 'IPv6'] : ['IPv4']
}

const addressesOf = (specs: ServiceSpec[]) =>
  new Set(specs.flatMap((spec) => spec.clusterIPs ?? []))
const nodePortsOf = (specs: ServiceSpec[]) =>
  new Set(specs.flatMap(({ports = []}) => ports.flatMap(({nodePort}) => nodePort ?? [])))

/** Gives a service what it did not ask for by value: address, families, node ports. */
export function allocate(service: Service, context: OperationContext): void {
  const {spec} = service
  if (spec === undefined || !hasClusterIP(spec)) return
  const existing = others(context, service)
  if (!spec.clusterIP && spec.clusterIPs?.[0]) spec.clusterIP = spec.clusterIPs[0]
  spec.clusterIP ||= free(
    () => toText(FIRST_ADDRESS + randomInt(2, ADDRESSES - 1)),
    addressesOf(existing),
    'cluster IP',
  )
  if (!spec.clusterIPs?.length) spec.clusterIPs = [spec.clusterIP]
  allocateFamilies(spec)
  if (hasNodePorts(spec)) allocateNodePorts(spec, nodePortsOf(existing))
}

function allocateNodePorts({ports = []}: ServiceSpec, taken: Set<number>): void {
  for (const {nodePort} of ports) if (nodePort) taken.add(nodePort)
  for (const port of ports) {
    port.nodePort ||= free(() => randomInt(FIRST_NODE_PORT, LAST_NODE_PORT + 1), taken, 'node port')
    taken.add(port.nodePort)
  }
}

function validateAddress(spec: ServiceSpec, existing: ServiceSpec[]): FieldError[] {
  const {clusterIP = ''} = spec
  if (!hasClusterIP(spec) || isHeadless(spec) || clusterIP === '' || !isIPv4(clusterIP)) return []
  const refuse = (why: string) => [
    invalidValue(
      'spec.clusterIPs',
      spec.clusterIPs ?? [],
      `failed to allocate IP ${clusterIP}: ${why}`,
    ),
  ]
  if (!isInRange(clusterIP)) {
    return refuse(
      `the provided IP (${clusterIP}) is not in the valid range. The range of valid IPs is ${SERVICE_CIDR}`,
    )
  }
  return addressesOf(existing).has(clusterIP) ? refuse('provided IP is already allocated') : []
}

/** What a service asked for by value has to be free. */
export function validateAllocation(service: Service, context: OperationContext): FieldError[] {
  const {spec} = service
  if (spec === undefined) return []
  const existing = others(context, service)
  const taken = nodePortsOf(existing)
  const portErrors = (spec.ports ?? []).flatMap(({nodePort}, index) => {
    if (!nodePort) return []
    const field = `spec.ports[${index}].nodePort`
    if (nodePort < FIRST_NODE_PORT || nodePort > LAST_NODE_PORT) {
      const why = `provided port is not in the valid range. The range of valid ports is ${FIRST_NODE_PORT}-${LAST_NODE_PORT}`
      return [invalidValue(field, nodePort, why)]
    }
    return taken.has(nodePort)
      ? [invalidValue(field, nodePort, 'provided port is already allocated')]
      : []
  })
  return [...validateAddress(spec, existing), ...portErrors]
}
