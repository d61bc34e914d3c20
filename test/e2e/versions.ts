import {mkdtemp, rm} from 'node:fs/promises'
import {tmpdir} from 'node:os'
import {join} from 'node:path'
import {describeWithKubectl} from '../helpers/clients.ts'
import {sharedCluster} from '../helpers/cluster.ts'
import {Kubectl} from '../helpers/kubectl.ts'

/** What a kubectl can do. */
export interface Version {
  version: string
  /** `auth whoami`, since 1.26. */
  whoami: boolean
  /** `create token`, since 1.24. */
  tokens: boolean
  /** `--subresource`, since 1.24. */
  subresources: boolean
  /** `wait --for=jsonpath`, since 1.23. */
  waitsForPath: boolean
  /** `wait --for=create`, since 1.31. */
  waitsForCreation: boolean
  /** It leaves validation of fields to the server, since 1.27; before, it checks them by OpenAPI v2. */
  strictServer: boolean
  /** `version` says what the server is in plain text without being asked to. */
  versionLabel: string
}

const OLD = {
  whoami: false,
  tokens: false,
  subresources: false,
  waitsForPath: false,
  waitsForCreation: false,
  strictServer: false,
}

const NEW = {
  whoami: true,
  tokens: true,
  subresources: true,
  waitsForPath: true,
  waitsForCreation: true,
  strictServer: true,
}

export const VERSIONS: Version[] = [
  {version: '1.20', ...OLD, versionLabel: 'Server Version: version.Info{Major:"1", Minor:"36"'},
  {version: '1.32', ...NEW, versionLabel: 'Server Version: v1.36.'},
  {version: '1.36', ...NEW, versionLabel: 'Server Version: v1.36.'},
]

/** What the tests of one version have: its program, set up before them, in a namespace of their own. */
export interface Context extends Version {
  readonly kubectl: Kubectl
  /** A prefix for names of objects that are in no namespace. */
  readonly prefix: string
  readonly home: string
}

/** The same tests with every kubectl; those of one that is missing are skipped. */
export function withEveryKubectl(area: string, tests: (context: Context) => void): void {
  for (const version of VERSIONS) {
    describeWithKubectl(version.version, area, function (binary) {
      this.timeout(60_000)
      const prefix = `${area.replaceAll(/\W+/g, '-')}-${version.version.replace('.', '-')}`
      const holder: {kubectl?: Kubectl; home?: string} = {}

      before(async () => {
        const {kubeconfig} = await sharedCluster()
        const home = (holder.home = await mkdtemp(join(tmpdir(), 'trustadm-kubectl-')))
        const kubectl = new Kubectl({binary, kubeconfig, home, namespace: prefix})
        await kubectl.ok(`create namespace ${prefix}`)
        holder.kubectl = kubectl
      })

      tests({
        ...version,
        prefix,
        get kubectl() {
          return required(holder.kubectl)
        },
        get home() {
          return required(holder.home)
        },
      })

      // Last, so that what tests clean up after themselves comes first.
      after(async () => {
        await holder.kubectl?.ok(`delete namespace ${prefix} --wait=false`)
        if (holder.home) await rm(holder.home, {recursive: true, force: true})
      })
    })
  }
}

function required<T>(value: T | undefined): T {
  if (value === undefined) throw new Error('set up before the tests run')
  return value
}
