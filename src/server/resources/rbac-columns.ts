import type {Column} from '../kernel/resource.ts'
import {AGE, NAME, column, wideColumn} from './columns.ts'
import type {Binding, Subject} from './rbac.ts'

const names = (kind: string, shown: (subject: Subject) => string) => (binding: Binding) =>
  (binding.subjects ?? [])
    .filter((subject) => subject.kind === kind)
    .map(shown)
    .join(', ')

const bareName = ({name = ''}: Subject) => name

export const bindingColumns: Column<Binding>[] = [
  NAME,
  column(
    'Role',
    'The role that it grants.',
    ({roleRef}) => `${roleRef?.kind ?? ''}/${roleRef?.name ?? ''}`,
  ),
  AGE,
  wideColumn('Users', 'The users it grants to.', names('User', bareName)),
  wideColumn('Groups', 'The groups it grants to.', names('Group', bareName)),
  wideColumn(
    'ServiceAccounts',
    'The service accounts it grants to.',
    names('ServiceAccount', ({namespace = '', name = ''}) => `${namespace}/${name}`),
  ),
]
