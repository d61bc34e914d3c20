import type {Machine} from '../../api/machine.ts'
import {
  AGE,
  column,
  defineResource,
  keepStatus,
  NAME,
  statusSubresource,
  wideColumn,
} from './define.ts'

const DOMAIN = 'machine.openshift.io'

const label = (name: string) => (machine: Machine) =>
  machine.metadata.labels?.[`${DOMAIN}/${name}`] ?? ''

/** The inventory that the machine approver decides by; OpenShift's Machine, served as a custom resource. */
export const machines = defineResource<Machine>({
  plural: 'machines',
  type: 'machine/v1beta1.Machine',
  namespaced: true,
  conditionalUpdateOnly: true,
  custom: true,
  generation: true,
  strategy: {
    prepareForCreate: (machine) => {
      delete machine.status
    },
    prepareForUpdate: keepStatus,
  },
  subresources: {status: statusSubresource<Machine>()},
  columns: [
    NAME,
    column('Phase', 'Where in its life it is.', ({status}) => status?.phase ?? ''),
    column('Type', 'Its instance type.', label('instance-type')),
    column('Region', 'Its region.', label('region')),
    column('Zone', 'Its zone.', label('zone')),
    AGE,
    wideColumn('Node', 'The node it became.', ({status}) => status?.nodeRef?.name ?? ''),
    wideColumn('ProviderID', "The provider's name of it.", ({spec}) => spec?.providerID ?? ''),
    wideColumn(
      'State',
      "The provider's view of its state.",
      ({metadata}) => metadata.annotations?.[`${DOMAIN}/instance-state`] ?? '',
    ),
  ],
})
