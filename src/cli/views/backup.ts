import {planeCommand} from '../../control-plane/plane-command.ts'
import type {BackupReport} from '../../control-plane/backup/backup.ts'
import type {RestoreReport} from '../../control-plane/backup/restore.ts'
import type {SnapshotStatus} from '../../control-plane/backup/snapshot-status.ts'
import {columnsOf, formatFields, paragraph, type Field} from '../layout.ts'
import type {View} from '../output.ts'
import {moment} from './obtained.ts'
import {size} from './size.ts'

const WIDTH = 12

const fields = (list: readonly Field[]): string =>
  formatFields(list, {columns: columnsOf(process.stdout), width: WIDTH, indent: 2})

const KINDS = {store: 'a store', 'control-plane': 'a control plane'} as const

const contentOf = ({keys, files}: {keys: number; files: number}): string =>
  files === 0 ? `${keys} keys` : `${keys} keys, ${files} files`

const leftOut = (report: BackupReport): string =>
  report.leftOut.length === 0
    ? ''
    : `\nNot in it, because they are elsewhere; copy them yourself:\n${report.leftOut.map((path) => `  ${path}\n`).join('')}`

export const backupView: View<BackupReport> = {
  table: (report) => {
    const facts = fields([
      ['content', contentOf(report)],
      ['size', `${size(report.bytes)}${report.encrypted ? ', encrypted' : ''}`],
      ['revision', String(report.revision)],
      ['checksum', report.sha256],
    ])
    const isOpen = report.kind === 'control-plane' && !report.encrypted
    const warning = '\nIt contains the keys of the CAs: keep it as safe as those.\n'
    return `saved ${report.file}\n${facts}${leftOut(report)}${isOpen ? warning : ''}`
  },
  name: ({file}) => [file],
}

const lost = (dir: string): string =>
  `What happened after that time is not in it: machines that joined since may have to join again, and certificates revoked and tokens deleted since work again. See "${planeCommand(dir, 'certificate log')}".`

export const restoreView = (start: string): View<RestoreReport> => ({
  table: (report) => {
    const facts = fields([
      ['content', contentOf(report)],
      ['revision', `${report.backupRevision}; the next is ${report.revision + 1}`],
      ...(report.kept === null ? [] : [['old data', report.kept] as const]),
      ['start it', start],
    ])
    const note = paragraph('', lost(report.dir), columnsOf(process.stdout), 0)
    return `restored ${report.dir} as of ${moment(report.createdAt)}\n${facts}\n${note}`
  },
  name: ({dir}) => [dir],
})

export const snapshotStatusView: View<SnapshotStatus> = {
  table: (status) =>
    fields([
      ['file', status.file],
      ['content', `${KINDS[status.kind]}: ${contentOf(status)}`],
      ['size', `${size(status.bytes)}${status.encrypted ? ', encrypted' : ''}`],
      ['revision', String(status.revision)],
      ['created', `${moment(status.createdAt)}, by trustadm ${status.program}`],
      ['checksum', status.sha256],
    ]),
  name: ({file}) => [file],
}
