import {homedir} from 'node:os'
import {delimiter, dirname, join, resolve} from 'node:path'
import {TrustError} from '../errors.ts'
import {readFileIfThere} from '../fs/files.ts'
import {anchorCommand} from './exec-config.ts'
import {parseKubeconfig, type Kubeconfig, type KubeconfigUser} from './kubeconfig.ts'
import type {Environment} from './proxy-rules.ts'

const LARGEST = 4 * 1024 * 1024

export interface LoadOptions {
  environment?: Environment | undefined
  home?: string | undefined
}

/** The given kubeconfig (it must exist), else the files of `$KUBECONFIG`, else `~/.kube/config`, as kubectl. */
export async function loadKubeconfig(
  path?: string,
  {environment = process.env, home = homedir()}: LoadOptions = {},
): Promise<Kubeconfig> {
  if (path !== undefined) return await readKubeconfig(path)
  const list = (environment.KUBECONFIG ?? '').split(delimiter).filter((entry) => entry !== '')
  const files = list.length > 0 ? [...new Set(list)] : [join(home, '.kube', 'config')]
  const configs = await Promise.all(files.map(readIfThere))
  return mergeKubeconfigs(configs.filter((config) => config !== undefined))
}

/** Merges kubeconfigs: for each name, and every other setting, the first one is used. */
function mergeKubeconfigs(configs: readonly Kubeconfig[]): Kubeconfig {
  const named = <Entry extends {name: string}>(entries: Entry[]) =>
    [...new Map(entries.toReversed().map((entry) => [entry.name, entry])).values()].toReversed()
  return {
    ...(Object.assign({}, ...configs.toReversed()) as Kubeconfig),
    'current-context': configs.map((config) => config['current-context']).find(Boolean) ?? '',
    clusters: named(configs.flatMap(({clusters}) => clusters)),
    contexts: named(configs.flatMap(({contexts}) => contexts)),
    users: named(configs.flatMap(({users}) => users)),
  }
}

/** Reads one file; the paths in it are relative to its folder. */
export const readKubeconfig = async (path: string): Promise<Kubeconfig> =>
  withFullPaths(parseKubeconfig(await readSmallFile(path, 'the kubeconfig'), path), path)

/** The kubeconfig of a file, with full paths instead of those relative to its folder. */
export function withFullPaths(config: Kubeconfig, path: string): Kubeconfig {
  const folder = dirname(resolve(path))
  const anchor = <Fields extends object>(fields: Fields, ...names: (keyof Fields)[]): Fields => {
    const anchored = {...fields}
    for (const name of names) {
      const file = anchored[name]
      if (typeof file === 'string' && file !== '') {
        anchored[name] = resolve(folder, file) as Fields[typeof name]
      }
    }
    return anchored
  }
  return {
    ...config,
    clusters: config.clusters.map((entry) => ({
      ...entry,
      cluster: anchor(entry.cluster, 'certificate-authority'),
    })),
    users: config.users.map((entry) => ({
      ...entry,
      user: withProgram(anchor(entry.user, 'client-certificate', 'client-key', 'tokenFile'), path),
    })),
  }
}

const withProgram = (user: KubeconfigUser, path: string): KubeconfigUser =>
  user.exec === undefined ? user : {...user, exec: anchorCommand(user.exec, path)}

/** Reads a regular file of reasonable size. Links are followed: the kubelet's current certificate is one. */
export async function readSmallFile(path: string, what: string): Promise<string> {
  const bytes = await readFileIfThere(path, {followLinks: true, maxBytes: LARGEST})
  if (bytes) return bytes.toString()
  throw new TrustError('KUBECONFIG_INVALID', `${what} ${path} does not exist`, {
    facts: {missing: path},
    hints: ['name another one with --kubeconfig, or create a cluster with "trustadm init"'],
  })
}

async function readIfThere(path: string): Promise<Kubeconfig | undefined> {
  try {
    return await readKubeconfig(path)
  } catch (error) {
    if (error instanceof TrustError && error.facts.missing === path) return undefined
    throw error
  }
}
