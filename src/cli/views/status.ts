import type {ServerReport, StatusReport} from '../../control-plane/status.ts'
import {humanDuration} from '../../server/table/human-duration.ts'
import {formatTable} from '../table.ts'
import {colours} from '../colours.ts'
import {columnsOf, formatFields} from '../layout.ts'
import type {View} from '../output.ts'
import {formatExpiration} from './expiration.ts'
import {moment} from './obtained.ts'
import {shownValue} from './requests-text.ts'

function stateOf({running, ready, pid}: ServerReport): string {
  const paint = colours(process.stdout)
  if (!running) return paint.red('stopped')
  const state = ready ? paint.green('ready') : paint.yellow('not ready')
  return pid === null ? state : `${state} (process ${pid})`
}

function formatServer({dir, endpoint, server}: StatusReport): string {
  const failing = server.checks.filter(({ok}) => !ok).map(({name}) => name)
  const lines: [string, string][] = [
    ['server', stateOf(server)],
    ['endpoint', endpoint],
    ['folder', dir],
    ...(server.version === null ? [] : [['version', server.version] as [string, string]]),
    ...(server.startedAt === null ? [] : [['since', moment(server.startedAt)] as [string, string]]),
    ...(server.startCommand === null
      ? []
      : [['start it', server.startCommand] as [string, string]]),
    ...(failing.length === 0 ? [] : [['failing', failing.join(', ')] as [string, string]]),
    ...server.problems.map((problem): [string, string] => ['problem', problem]),
  ]
  return formatFields(lines, {columns: columnsOf(process.stdout), width: 10})
}

const duration = (seconds: number | null): string =>
  seconds === null ? '<unknown>' : humanDuration(seconds * 1000)

const formatServers = ({servers}: StatusReport): string =>
  formatTable(
    ['SERVER', 'VERSION', 'AGE', 'CACHE', 'STATE'],
    servers.map(({name, hostname, version, ageSeconds, cache, silentSeconds, alive}) => [
      shownValue(hostname ?? name),
      version === null ? '<unknown>' : shownValue(version),
      duration(ageSeconds),
      // An earlier version shows only when its memory was current for the last time.
      duration(cache?.ageSeconds ?? silentSeconds),
      alive ? 'alive' : 'silent',
    ]),
  )

export const statusView: View<StatusReport> = {
  table(report) {
    const objects = formatTable(
      ['STORED', 'COUNT'],
      report.objects.map(({resource, count}) => [resource, String(count)]),
    )
    return [
      formatServer(report),
      ...(report.servers.length === 0 ? [] : [formatServers(report)]),
      formatExpiration(report.certificates),
      ...(report.objects.length === 0 ? [] : [objects]),
    ].join('\n')
  },
  name: ({endpoint}) => [endpoint],
}
