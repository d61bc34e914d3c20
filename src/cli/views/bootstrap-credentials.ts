import type {CreatedCredential} from '../../control-plane/bootstrap-credentials/create.ts'
import type {
  CredentialDetails,
  CredentialList,
  CredentialReport,
} from '../../control-plane/bootstrap-credentials/list.ts'
import type {RevokedCredential} from '../../control-plane/bootstrap-credentials/revoke.ts'
import type {UnrevokedCredential} from '../../control-plane/bootstrap-credentials/remembered.ts'
import type {ClusterFlagValues} from '../cluster.ts'
import {formatColumns, type Narrowing} from '../columns.ts'
import {columnsOf, paragraph} from '../layout.ts'
import type {View} from '../output.ts'
import {clusterCommand} from '../same-cluster.ts'
import {cell, fields, lastUse, moment, obtainedTable, waiting} from './obtained.ts'

const COLUMNS = ['ID', 'KIND', 'NAMESPACE', 'STATE', 'CREATED', 'LAST USED', 'ISSUED', 'PENDING']
const WIDE_COLUMNS = ['EXPIRES', 'CREDENTIAL']
const [NAMESPACE, CREATED, PENDING] = [2, 4, 7] as const
const NARROWING: Narrowing = {
  least: new Map([[NAMESPACE, 11]]),
  droppable: [NAMESPACE, CREATED, PENDING],
}
const AS_WIDE_AS_NEEDED: Narrowing = {least: new Map()}

/** Not known any more once it is revoked. */
const createdAt = ({created}: CredentialReport): string =>
  created === null ? '<unknown>' : moment(created)

const usedAt = ({lastUsed, issued}: CredentialReport): string =>
  lastUse(lastUsed, {isLogRead: issued !== null})

const row = (one: CredentialReport): string[] => [
  one.id,
  one.kind,
  one.namespace,
  one.state,
  createdAt(one),
  usedAt(one),
  one.issued === null ? '<unknown>' : String(one.issued),
  String(one.pending.length),
]

const wideRow = (one: CredentialReport): string[] => [
  ...row(one),
  one.state === 'revoked' ? '<none>' : (one.expires ?? '<never>'),
  cell(one.credential),
]

export const credentialListView = (isWide: boolean): View<CredentialList> => ({
  table: ({credentials}) =>
    isWide
      ? formatColumns([...COLUMNS, ...WIDE_COLUMNS], credentials.map(wideRow), AS_WIDE_AS_NEEDED)
      : formatColumns(COLUMNS, credentials.map(row), NARROWING),
  name: ({credentials}) => credentials.map(({id}) => id),
})

/** The kubeconfig itself, so that it can be redirected to a file; or where it was written. */
export const createdCredentialView: View<CreatedCredential> = {
  table: ({kubeconfig, file, kind, id, isNew}) =>
    kubeconfig ??
    paragraph(
      isNew ? 'created ' : 'kept ',
      `the bootstrap credential ${id} (${kind}); its kubeconfig is ${file ?? ''}`,
      columnsOf(process.stdout),
    ),
  name: ({id}) => [id],
}

export const credentialView: View<CredentialDetails> = {
  table: (shown) =>
    fields([
      ['id', shown.id],
      ['kind', shown.kind],
      ['state', shown.state],
      ['user', `system:serviceaccount:${shown.namespace}:node-bootstrapper`],
      ['rests on', cell(shown.object)],
      ['credential', cell(shown.credential)],
      ['created', createdAt(shown)],
      ['expires', shown.state === 'revoked' ? '<none>' : (shown.expires ?? '<never>')],
      ['last used', usedAt(shown)],
      ['pending', waiting(shown.pending)],
    ]) + obtainedTable(shown.obtained),
  name: ({id}) => [id],
}

export const revokedCredentialView = (
  isDryRun: boolean,
  flags: ClusterFlagValues,
): View<RevokedCredential> => ({
  table: ({id, kind, namespace, pending}) =>
    [
      `${isDryRun ? 'would revoke' : 'revoked'} the bootstrap credential ${id} (${kind})\n`,
      ...(pending.length > 0
        ? [`requests of it that wait are not approved any more: ${waiting(pending)}\n`]
        : []),
      ...(kind === 'certificate' ? [successor(namespace, flags)] : []),
    ].join(''),
  name: ({id}) => [id],
})

export const unrevokedCredentialView = (
  isDryRun: boolean,
  flags: ClusterFlagValues,
): View<UnrevokedCredential> => ({
  table: ({id, kind, namespace, accepted}) => {
    const what = `the bootstrap credential ${id} (${kind})`
    if (accepted) return `${what} ${isDryRun ? 'would be' : 'is'} accepted again\n`
    const command = `bootstrap-credential create --kind token --namespace ${namespace} --out <file>`
    return `${what} ${isDryRun ? 'would be' : 'is'} off the list, but its token went with its Secret; to create another one:\n  ${clusterCommand(flags, command)}\n`
  },
  name: ({id}) => [id],
})

/** The certificate is for machines that start before there are service accounts; from now on there are. */
const successor = (namespace: string, flags: ClusterFlagValues): string => {
  const command = `bootstrap-credential create --kind token --namespace ${namespace} --out <file>`
  return `to let further machines join, create a service-account token for them:\n  ${clusterCommand(flags, command)}\n`
}
