import type {ApiClient} from '../../client/api-client.ts'
import type {Clock} from '../../runtime.ts'
import type {Plane} from '../config/plane.ts'
import type {BroughtAuthorities} from './brought.ts'
import type {Liveness} from './following.ts'
import type {Reach} from './evidence.ts'

/** What the steps work with. */
export interface RotationContext {
  plane: Plane
  clock: Clock
  tell: (line: string) => void
  warn: (line: string) => void
  connect: (plane: Plane) => Promise<ApiClient>
  /** How the other servers of the control plane are asked; by default as the administrator of this machine. */
  reach?: Reach | undefined
  /** CAs that an operator brings along, by id. */
  brought?: BroughtAuthorities
  /** Names that an operator has taken responsibility for. */
  ignored?: readonly string[]
  unseenFor?: number | undefined
  /** Whether nobody is waited for. */
  force?: boolean
  /** Whether the last step of a completion, which was waiting already, is forced to end. */
  endsWait?: boolean
  /** Gets the number of nodes each time they are looked at. */
  sawNodes?: ((count: number) => void) | undefined
  /** Gets the names of servers or objects each time they are waited for. */
  sawWaiting?: ((names: readonly string[]) => void) | undefined
  /** What is known of the servers since this run began. */
  liveness?: Liveness
  signal?: AbortSignal | undefined
}

export async function withClient<Result>(
  {plane, connect}: Pick<RotationContext, 'plane' | 'connect'>,
  work: (client: ApiClient) => Promise<Result>,
): Promise<Result> {
  const client = await connect(plane)
  try {
    return await work(client)
  } finally {
    await client.close()
  }
}
