import {resolve} from 'node:path'
import {shellWord} from '../client/printable.ts'
import {hintText, type Hint} from '../errors.ts'
import {defaultDir} from '../fs/default-folders.ts'
import {clusterFlags, type ClusterFlagValues} from './cluster.ts'
import {readCommandLine} from './command-line.ts'
import type {Manifest} from './manifest.ts'

/** The flags that choose a control plane or a cluster. */
const FLAGS = ['dir', 'kubeconfig', 'context', 'cluster', 'user'] as const
type Flag = (typeof FLAGS)[number]

const COMMAND = /"trustadm ([^"]+)"/g

const isDefault = (flag: Flag, value: string): boolean =>
  flag === 'dir' && resolve(value) === defaultDir()

/** `certificate request` has another `--user`: that of the certificate. */
const CHOOSING = FLAGS.filter((flag) => flag !== 'user')

/** The flags by which a command line chooses a cluster, for another command. */
const flagsFor = (values: Pick<ClusterFlagValues, Flag>, flags: readonly Flag[]): string =>
  flags
    .flatMap((flag) => {
      const value = values[flag]
      if (value === undefined || isDefault(flag, value)) return []
      return [` --${flag} ${shellWord(flag === 'dir' ? resolve(value) : value)}`]
    })
    .join('')

/** A command line for the cluster that a command works with. */
export const clusterCommand = (values: Pick<ClusterFlagValues, Flag>, command: string): string =>
  `trustadm ${command}${flagsFor(values, FLAGS)}`

function valueIn(argv: readonly string[], flag: Flag): string | undefined {
  const at = argv.findLastIndex((one) => one === `--${flag}` || one.startsWith(`--${flag}=`))
  const word = argv[at]
  return word?.includes('=') ? word.slice(word.indexOf('=') + 1) : at < 0 ? undefined : argv[at + 1]
}

/**
 * Completes the commands in a hint with the flags by which the user has chosen the control plane or the cluster: without them, the
 * next command would work with another one. Only commands in which these flags mean the same get them: `--dir` of `join` is
 * the folder of a node.
 */
export function forSameCluster(
  argv: readonly string[],
  readManifest: () => Manifest,
): (hint: Hint) => string {
  const values = Object.fromEntries(FLAGS.map((flag) => [flag, valueIn(argv, flag)]))
  if (flagsFor(values, FLAGS) === '') return hintText
  const manifest = readManifest()
  const commandIn = (words: readonly string[]) =>
    manifest[readCommandLine(words, (id) => Object.hasOwn(manifest, id)).id]
  const own = commandIn(argv)
  const isSame = (flag: Flag, other: typeof own) => {
    const summary = own?.flags[flag]?.summary
    return summary !== undefined && summary === other?.flags[flag]?.summary
  }
  const isUserOfCluster = own?.flags.user?.summary === clusterFlags.user.summary
  return (hint) =>
    hintText(hint).replaceAll(COMMAND, (quoted, line: string) => {
      if (CHOOSING.some((flag) => line.includes(` --${flag} `))) return quoted
      const other = commandIn(line.split(' '))
      const knowsFiles = typeof hint === 'string' && isSame('kubeconfig', other)
      const flags = FLAGS.filter((flag) => {
        if (flag === 'dir') return isSame(flag, other)
        return knowsFiles && (flag !== 'user' || (isUserOfCluster && isSame(flag, other)))
      })
      return `"trustadm ${line}${flagsFor(values, flags)}"`
    })
}
