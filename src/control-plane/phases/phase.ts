import type {ApiClient} from '../../client/api-client.ts'
import type {Clock} from '../../runtime.ts'
import type {Plane} from '../config/plane.ts'

/** What a phase has to work with. */
export interface PhaseContext {
  plane: Plane
  clock: Clock
  /** Says what was done, in a line. */
  tell: (line: string) => void
  warn: (line: string) => void
  /** The command that starts this program, without arguments. */
  program: readonly string[]
  /** Instead of a process in the background: `init --foreground`. */
  startInForeground?: (plane: Plane) => Promise<void>
  connect: (plane: Plane) => Promise<ApiClient>
}

/** One step of `init`. Each can be repeated: what is right is kept. */
export interface Phase {
  name: string
  summary: string
  /** What `run` would change, for `--dry-run`. Changes nothing. */
  plan: (context: PhaseContext) => Promise<string[]>
  run: (context: PhaseContext) => Promise<void>
}
