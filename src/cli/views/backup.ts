import {planeCommand} from '../../control-plane/plane-command.ts'
import type {ArchiveReport, BackupReport} from '../../control-plane/backup/backup.ts'
import type {RestoreReport} from '../../control-plane/backup/restore.ts'
import {columnsOf, formatFields, paragraph, type Field} from '../layout.ts'
import type {View} from '../output.ts'
import {moment} from './obtained.ts'
import {size} from './size.ts'

const WIDTH = 12

const fields = (list: readonly Field[]): string =>
  formatFields(list, {columns: columnsOf(process.stdout), width: WIDTH, indent: 2})

const KINDS = {'objects-only': 'objects only', everything: 'a control plane'} as const

const contentOf = ({keys, files}: {keys: number; files: number}): string =>
  files === 0 ? `${keys} keys` : `${keys} keys, ${files} files`

const leftOut = (report: BackupReport): string =>
  report.leftOut.length === 0
    ? ''
    : `\nNot in it, because they are elsewhere; copy them yourself:\n${report.leftOut.map((path) => `  ${path}\n`).join('')}`

const WARNINGS = {
  'objects-only': 'It contains all Secrets and tokens: keep it secret.',
  everything: 'It contains the keys of the CAs: keep it as safe as those.',
} as const

export const backupView: View<BackupReport> = {
  table: (report) => {
    const facts = fields([
      ['content', `${KINDS[report.kind]}: ${contentOf(report)}`],
      ['size', `${size(report.bytes)}${report.encrypted ? ', encrypted' : ''}`],
      ['revision', String(report.revision)],
      ['checksum', report.sha256],
    ])
    const warning = report.encrypted ? '' : `\n${WARNINGS[report.kind]}\n`
    return `saved ${report.file}\n${facts}${leftOut(report)}${warning}`
  },
  name: ({file}) => [file],
}

const lost = (dir: string): string =>
  `What happened after that time is not in it: machines that joined since may have to join again, and certificates revoked and tokens deleted since work again. See "${planeCommand(dir, 'certificate log')}".`

const notesOn = ({dir, store, revision, unchanged, leftPrefix}: RestoreReport): string[] => [
  ...(unchanged ? [] : [lost(dir)]),
  ...(store === 'etcd' && revision !== null
    ? [
        `The settings are in config.yaml. Run "${planeCommand(dir, 'init')}" once after the start: it publishes them for other machines of the control plane.`,
      ]
    : []),
  ...(leftPrefix === null
    ? []
    : [
        `The keys in etcd that are not used any more stay until you delete them: etcdctl del --prefix ${leftPrefix}/`,
      ]),
  ...(leftPrefix !== null && store === 'embedded'
    ? ['config.yaml no longer names etcd, and only this machine can have a server.']
    : []),
]

export const restoreView = (start: string): View<RestoreReport> => ({
  table: (report) => {
    const {revision, kept, backupRevision, dir, createdAt} = report
    const facts = fields([
      ['content', contentOf(report)],
      ['store', report.store],
      ...(revision === null
        ? []
        : [['revision', `${backupRevision}; the next is ${revision + 1} or higher`] as const]),
      ...(kept === null ? [] : [['old data', kept] as const]),
      ['start it', start],
    ])
    const notes = notesOn(report).map(
      (note) => `\n${paragraph('', note, columnsOf(process.stdout), 0)}`,
    )
    return `restored ${dir} as of ${moment(createdAt)}\n${facts}${notes.join('')}`
  },
  name: ({dir}) => [dir],
})

export const archiveView: View<ArchiveReport> = {
  table: (report) =>
    fields([
      ['file', report.file],
      ['content', `${KINDS[report.kind]}: ${contentOf(report)}`],
      ...(report.store ? [['store', report.store] as const] : []),
      ['size', `${size(report.bytes)}${report.encrypted ? ', encrypted' : ''}`],
      ['revision', String(report.revision)],
      ['created', `${moment(report.createdAt)}, by trustadm ${report.program}`],
      ['checksum', report.sha256],
    ]),
  name: ({file}) => [file],
}
