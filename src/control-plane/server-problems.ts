import {OWN_NAMESPACE} from '../trust/own-namespace.ts'
import {differing} from './server-digests.ts'
import type {KnownServer} from './server-identity.ts'

/** What the servers of a control plane should have in common, and do not. */
export interface Difference {
  /** `version`, the name of a setting in config.yaml or of a flag, or what else they share, such as `CAs`. */
  name: string
  /** By the names of the servers: their versions, or digests of what they have. Those that do not show it are left out. */
  values: Record<string, string>
}

const VERSION = 'version'

/** Servers that run and differ, as during an upgrade, or because the settings of one were changed. */
export function differencesOf(servers: readonly KnownServer[]): Difference[] {
  const shown = servers
    .filter(({alive}) => alive)
    .map(({name, version, digests}) => {
      const values: Record<string, string> = {...(version !== null && {[VERSION]: version})}
      return {name, values: {...values, ...digests}}
    })
  return differing(shown.map(({values}) => values)).map((what) => ({
    name: what,
    values: Object.fromEntries(
      shown.flatMap(({name, values}) => {
        const value = values[what]
        return value === undefined ? [] : [[name, value]]
      }),
    ),
  }))
}

function describeDifference(
  {name: what, values}: Difference,
  servers: readonly KnownServer[],
): string {
  if (what !== VERSION) return `the servers have different ${what}`
  const each = servers.flatMap(({name, hostname}) =>
    name in values ? [`${values[name] ?? ''} on ${hostname ?? name}`] : [],
  )
  return `the servers run different versions: ${each.join(', ')}`
}

/** Issuance logs that lack lines which nodes have seen. */
export const lossesOf = (servers: readonly KnownServer[]): string[] =>
  servers.flatMap(({name, hostname, issuanceLog: {problem}}) =>
    problem === undefined ? [] : [`${hostname ?? name}: ${problem}`],
  )

/** Servers that do not follow a rotation of another machine. */
export const laggardsOf = (servers: readonly KnownServer[]): string[] =>
  servers.flatMap(({name, hostname, rotationProblem, alive}) =>
    rotationProblem === null || !alive
      ? []
      : [`${hostname ?? name} does not follow the rotation of the CAs yet: ${rotationProblem}`],
  )

/** Servers of an earlier version, which believe whoever may write Leases in kube-system. */
const oldRecordsOf = (servers: readonly KnownServer[]): string[] =>
  servers.flatMap(({name, hostname, version, records, alive}) =>
    version === null || !alive || records === OWN_NAMESPACE
      ? []
      : [
          `${hostname ?? name} still reads the records of node names in kube-system, where others may write: upgrade it`,
        ],
  )

/** What is wrong with the servers of a control plane, as their Leases show it. */
export const problemsOf = (servers: readonly KnownServer[]): string[] => [
  ...lossesOf(servers),
  ...laggardsOf(servers),
  ...oldRecordsOf(servers),
  ...differencesOf(servers).map((one) => describeDifference(one, servers)),
]
