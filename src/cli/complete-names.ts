import {INIT_PHASE_NAMES} from '../control-plane/init/names.ts'
import {JOIN_PHASE_NAMES} from '../node/join/names.ts'
import {WELL_KNOWN_SIGNERS} from '../csr/signers.ts'

/** Something that may stand at the end of a command line. */
export interface Candidate {
  word: string
  summary?: string | undefined
}

/** What a cluster, or the program, has names for. */
export type NameKind =
  | 'requests'
  | 'tokens'
  | 'credentials'
  | 'revoked-credentials'
  | 'nodes'
  | 'machines'
  | 'certificates'
  | 'controllers'
  | 'authorities'
  | 'added-authorities'

/** Finds names; `flags` says where the cluster is. It never fails: without an answer there is nothing to offer. */
export type NameSource = (
  kind: NameKind,
  flags: ReadonlyMap<string, string>,
) => Promise<Candidate[]>

const BY_COMMAND: Readonly<Record<string, NameKind>> = {
  'certificate show': 'requests',
  'certificate approve': 'requests',
  'certificate deny': 'requests',
  'certificate download': 'requests',
  'certificate revoke': 'requests',
  'certificate renew': 'certificates',
  'certificate allow-rejoin': 'nodes',
  'node history': 'nodes',
  'token show': 'tokens',
  'token delete': 'tokens',
  'bootstrap-credential show': 'credentials',
  'bootstrap-credential revoke': 'credentials',
  'bootstrap-credential unrevoke': 'revoked-credentials',
  'machine delete': 'machines',
  'machine renew': 'machines',
  'ca show': 'authorities',
  'ca remove': 'added-authorities',
}

/** What the argument of a command names. */
export const namesFor = (
  path: readonly string[],
  argument: string | undefined,
): NameKind | undefined => (argument === undefined ? undefined : BY_COMMAND[path.join(' ')])

/** What the value of a flag names. */
export const NAMES_OF_FLAG: Readonly<Record<string, NameKind>> = {
  node: 'nodes',
  credential: 'credentials',
  controllers: 'controllers',
  only: 'authorities',
  ignore: 'nodes',
}

/** The values of flags that are known without a cluster, by the name of the flag. */
export const STATIC_VALUES: Readonly<
  Record<string, (path: readonly string[]) => readonly string[]>
> = {
  'skip-phases': ([command]) => (command === 'join' ? JOIN_PHASE_NAMES : INIT_PHASE_NAMES),
  signer: () => WELL_KNOWN_SIGNERS,
  usages: () => ['signing', 'authentication'],
}
