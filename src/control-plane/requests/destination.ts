import {basename, dirname, join, resolve} from 'node:path'
import {buildKubeconfig, writeKubeconfig} from '../../client/kubeconfig-build.ts'
import {parseKubeconfig, type Kubeconfig} from '../../client/kubeconfig.ts'
import type {ServerAccess} from '../../client/server-access.ts'
import {lookAt} from '../../fs/file-checks.ts'
import {recoverFolder, replaceFiles} from '../../fs/file-groups.ts'
import {readFileIfThere, writeFileSafely} from '../../fs/files.ts'

interface Pair {
  keyPem: string
  certificatePem: string
}

/** What was written, as paths. */
export interface WrittenFiles {
  key?: string
  certificate?: string
  kubeconfig?: string
}

/** Where an issued certificate ends up. */
export interface Destination {
  /** The folder of everything that is written. */
  folder: string
  /** For a new key until its certificate is issued; absent if the owner provided the key. */
  pendingKey?: string
  /** Existing files that would be replaced. */
  taken(): Promise<string[]>
  /** Whether this key is in its final place already. */
  holds(keyPem: string): Promise<boolean>
  write(pair: Pair): Promise<WrittenFiles>
}

const thereOf = async (paths: readonly string[]): Promise<string[]> => {
  const found = await Promise.all(paths.map(async (path) => ((await lookAt(path)) ? [path] : [])))
  return found.flat()
}

/** `<label>.key` and `<label>.crt`, which change together. */
export function pairDestination(folder: string, label: string): Destination {
  const [key, certificate] = [join(folder, `${label}.key`), join(folder, `${label}.crt`)]
  return {
    folder,
    pendingKey: join(folder, `${label}.pending.key`),
    taken: async () => {
      if (await lookAt(folder)) await recoverFolder(folder, label)
      return await thereOf([key, certificate])
    },
    holds: async (keyPem) =>
      (await readFileIfThere(key, {secret: true}))?.toString() === keyPem &&
      (await lookAt(certificate)) !== undefined,
    async write({keyPem, certificatePem}) {
      await replaceFiles(folder, label, [
        {name: basename(key), data: keyPem},
        {name: basename(certificate), data: certificatePem},
      ])
      return {key, certificate}
    },
  }
}

/** The certificate alone, for a key that its owner keeps. */
export function certificateDestination(folder: string, label: string): Destination {
  const certificate = join(folder, `${label}.crt`)
  return {
    folder,
    taken: () => thereOf([certificate]),
    holds: () => Promise.resolve(false),
    async write({certificatePem}) {
      await writeFileSafely(certificate, certificatePem)
      return {certificate}
    },
  }
}

type Target = Pick<ServerAccess, 'server' | 'ca' | 'tlsServerName'>

/** A new kubeconfig for the same cluster. */
export function kubeconfigDestination(
  file: string,
  target: Target,
  {userName, ownKey}: {userName: string; ownKey: boolean},
): Destination {
  const path = resolve(file)
  return {
    folder: dirname(path),
    ...(!ownKey && {pendingKey: `${path}.pending.key`}),
    taken: () => thereOf([path]),
    holds: async (keyPem) => {
      const content = await readFileIfThere(path, {secret: true})
      const users = content ? parseKubeconfig(content.toString(), path).users : []
      const data = Buffer.from(keyPem).toString('base64')
      return users.some(({user}) => user['client-key-data'] === data)
    },
    async write(pair) {
      await writeKubeconfig(path, kubeconfigOf(target, userName, pair))
      return {kubeconfig: path}
    },
  }
}

function kubeconfigOf(
  {server, ca, tlsServerName}: Target,
  userName: string,
  {keyPem, certificatePem}: Pair,
): Kubeconfig {
  const config = buildKubeconfig({
    server,
    ca: ca ?? '',
    userName,
    credentials: {certificate: certificatePem, key: keyPem},
  })
  for (const {cluster} of config.clusters) {
    // Without its own CA, the cluster is verified with the system's.
    if (ca === undefined) delete cluster['certificate-authority-data']
    if (tlsServerName !== undefined) cluster['tls-server-name'] = tlsServerName
  }
  return config
}
