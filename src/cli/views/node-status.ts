import type {CertificateStatus, NodeStatus} from '../../node/agent/node-status.ts'
import {span} from '../../discovery/validity.ts'
import {colours} from '../colours.ts'
import {columnsOf, formatFields, type Field} from '../layout.ts'
import type {View} from '../output.ts'
import {humanDuration} from '../../server/table/human-duration.ts'
import {residual} from './human-time.ts'

const WIDTH = 16

const present = (fields: readonly (readonly [string, string | null | undefined])[]): Field[] =>
  fields.flatMap(([label, value]) => (value ? [[label, value] as const] : []))

function validity({state, isDue, residualSeconds}: CertificateStatus): string {
  const paint = colours(process.stdout)
  if (state === 'not yet valid') return paint.red(`${state}: the clock of this machine is behind`)
  if (state !== 'valid') return paint.red(state)
  const left = `${residual(residualSeconds)} left`
  return isDue ? paint.yellow(`due, ${left}`) : `${paint.green('valid')}, ${left}`
}

const failure = (error: CertificateStatus['lastError']): string | undefined =>
  error ? colours(process.stdout).red(error.message) : undefined

const certificateFields = (one: CertificateStatus): Field[] =>
  present([
    ['state', validity(one)],
    ['file', one.file],
    ['serial', one.serial],
    ['issuer', one.issuer],
    ['valid from', one.notBefore],
    ['valid until', one.notAfter],
    ['renewal at', one.deadline],
    ['next attempt', one.nextAttempt === one.deadline ? null : one.nextAttempt],
    ['last renewal', one.lastRenewal],
    ['last attempt', one.lastAttempt],
    ['last error', failure(one.lastError)],
    [
      'waiting for',
      one.pendingRequest &&
        `approval of ${one.pendingRequest}: run "trustadm certificate approve" with that name on the control plane`,
    ],
    [
      'next step',
      one.name === 'client' && one.state === 'expired' && one.pendingRequest === null
        ? 'join again with a new token: it keeps the key, by which the cluster knows this machine'
        : undefined,
    ],
  ])

function agentOf({agent}: NodeStatus): string {
  const paint = colours(process.stdout)
  if (agent === null) return paint.yellow('not running: nothing is renewed')
  return agent.pid === null ? 'running' : `running (process ${agent.pid})`
}

function sourceOf({agent, source}: NodeStatus): string {
  if (source === 'agent') return 'the agent'
  const files = 'the files of the node'
  return agent === null
    ? files
    : colours(process.stdout).yellow(`${files}: the process does not answer`)
}

const clockText = ({clock}: NodeStatus): string | undefined =>
  clock
    ? colours(process.stdout).red(`${span(clock.aheadSeconds * 1000)} ahead of the server's`)
    : undefined

function clusterFields({clusterInfo}: NodeStatus): Field[] {
  const {server, endpoints, caCertHashes, readAt, ageSeconds, lastError} = clusterInfo
  return present([
    ['server', server],
    ['also at', endpoints.join('\n')],
    ['CA pin', caCertHashes.join('\n')],
    [
      'read',
      readAt === null
        ? 'when it joined'
        : `${humanDuration((ageSeconds ?? 0) * 1000)} ago, at ${readAt}`,
    ],
    ['last error', failure(lastError)],
  ])
}

export const nodeStatusView: View<NodeStatus> = {
  table(status) {
    const {bold} = colours(process.stdout)
    const fields = (list: readonly Field[]) =>
      formatFields(list, {columns: columnsOf(process.stdout), width: WIDTH, indent: 2})
    return [
      `${bold(`Node ${status.nodeName}`)}\n`,
      fields(
        present([
          ['agent', agentOf(status)],
          ['told by', sourceOf(status)],
          ['clock', clockText(status)],
          ['folder', status.dir],
        ]),
      ),
      ...status.certificates.map(
        (one) => `\n${bold(`${one.name} certificate`)}\n${fields(certificateFields(one))}`,
      ),
      `\n${bold('cluster')}\n${fields(clusterFields(status))}`,
    ].join('')
  },
  name: ({nodeName}) => [`node/${nodeName}`],
}
