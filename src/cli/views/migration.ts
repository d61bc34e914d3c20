import {size} from './size.ts'
import {planeCommand} from '../../control-plane/plane-command.ts'
import type {MigrationReport} from '../../control-plane/migration/migrate.ts'
import {columnsOf, formatFields, paragraph} from '../layout.ts'
import type {View} from '../output.ts'

const WIDTH = 12

const AFTER = {
  etcd: ({dir}: MigrationReport) =>
    `The settings are in config.yaml. Run "${planeCommand(dir, 'init')}" once after the start: it publishes them for other machines of the control plane.`,
  embedded: ({etcdPrefix}: MigrationReport) =>
    `config.yaml no longer names etcd, and only this machine can have a server. The keys in etcd stay until you delete them: etcdctl del --prefix ${etcdPrefix}/`,
}

export const migrationView = (start: string): View<MigrationReport> => ({
  table: (report) => {
    const columns = columnsOf(process.stdout)
    const facts = formatFields(
      [
        ['content', `${report.keys} keys, ${size(report.bytes)}, compared after the copy`],
        ['checksum', report.sha256],
        ['revision', `${report.sourceRevision}; the next is above ${report.revision}`],
        ...(report.kept === null ? [] : [['old store', report.kept] as const]),
        ['start it', start],
      ],
      {columns, width: WIDTH, indent: 2},
    )
    const next = paragraph('', AFTER[report.to](report), columns, 0)
    return `moved the objects of ${report.dir} from ${report.from} to ${report.to}\n${facts}\n${next}`
  },
  name: ({dir}) => [dir],
})
