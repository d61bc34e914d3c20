import type {ApiClient} from '../../client/api-client.ts'
import type {BootstrapTokenInfo} from '../../bootstrap/token-info.ts'
import type {Clock} from '../../runtime.ts'
import type {Plane} from '../config/plane.ts'
import type {TokenPolicy, WantedToken} from '../tokens/create.ts'

/** What a phase has to work with. */
export interface PhaseContext {
  plane: Plane
  clock: Clock
  /** Says what was done, in a line. */
  tell: (line: string) => void
  warn: (line: string) => void
  /** The command that starts this program, without arguments. */
  program: readonly string[]
  /** Whether certificates that an operator brought, and that cannot be used, are replaced. */
  replacesBrought?: boolean
  /** Instead of a process in the background: `init --foreground`. */
  startInForeground?: (plane: Plane) => Promise<void>
  connect: (plane: Plane) => Promise<ApiClient>
  /** The tokens that are to be there; without this, one of kubeadm's defaults. */
  tokens?: TokenPolicy & {wanted: readonly WantedToken[]}
  /** The token for the join line, once a phase has seen to it. */
  joinToken?: BootstrapTokenInfo
}

/** One step of `init`. Each can be repeated: what is right is kept. */
export interface Phase {
  name: string
  summary: string
  /** What `run` would change, for `--dry-run`. Changes nothing. */
  plan: (context: PhaseContext) => Promise<string[]>
  run: (context: PhaseContext) => Promise<void>
}
