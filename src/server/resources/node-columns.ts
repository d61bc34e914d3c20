import type {Column} from '../kernel/resource.ts'
import {AGE, NAME, column, firstNonEmpty, orNone, wideColumn} from './columns.ts'
import type {Node} from '../../api/node.ts'

const ROLE_PREFIX = 'node-role.kubernetes.io/'
const ROLE_LABEL = 'kubernetes.io/role'

function statusText({spec, status}: Node): string {
  const ready = status?.conditions?.findLast(({type}) => type === 'Ready')
  const state = ready === undefined ? 'Unknown' : ready.status === 'True' ? 'Ready' : 'NotReady'
  return spec?.unschedulable === true ? `${state},SchedulingDisabled` : state
}

function rolesText({metadata}: Node): string {
  const roles = Object.entries(metadata.labels ?? {}).flatMap(([key, value]) => {
    if (key.startsWith(ROLE_PREFIX)) return [key.slice(ROLE_PREFIX.length)]
    return key === ROLE_LABEL ? [value] : []
  })
  return orNone([...new Set(roles.filter((role) => role !== ''))].sort().join(','))
}

const address = ({status}: Node, type: string) =>
  orNone(status?.addresses?.find((one) => one.type === type)?.address)

const orUnknown = (text: string | undefined) => firstNonEmpty(text, '<unknown>')

function kernelText({status}: Node): string {
  const {kernelVersion = '', architecture = ''} = status?.nodeInfo ?? {}
  return kernelVersion !== '' && architecture !== ''
    ? `${kernelVersion} (${architecture})`
    : orUnknown(kernelVersion)
}

export const nodeColumns: Column<Node>[] = [
  NAME,
  column('Status', 'Whether the node is ready, and open to new pods.', statusText),
  column('Roles', 'The roles that its labels name.', rolesText),
  AGE,
  column('Version', "The kubelet's version.", ({status}) => status?.nodeInfo?.kubeletVersion ?? ''),
  wideColumn('Internal-IP', 'Its first internal address.', (node) => address(node, 'InternalIP')),
  wideColumn('External-IP', 'Its first external address.', (node) => address(node, 'ExternalIP')),
  wideColumn('OS-Image', 'Its operating system.', ({status}) =>
    orUnknown(status?.nodeInfo?.osImage),
  ),
  wideColumn('Kernel-Version', 'Its kernel and architecture.', kernelText),
  wideColumn('Container-Runtime', 'What runs its containers.', ({status}) =>
    orUnknown(status?.nodeInfo?.containerRuntimeVersion),
  ),
]
