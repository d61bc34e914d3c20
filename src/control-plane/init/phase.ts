import type {CertificateKey} from '../../bootstrap/certificate-key.ts'
import type {ApiClient} from '../../client/api-client.ts'
import type {BootstrapTokenInfo} from '../../bootstrap/token-info.ts'
import type {Phase} from '../../phases.ts'
import type {Clock} from '../../runtime.ts'
import type {Plane} from '../config/plane.ts'
import {findServer} from '../server-state.ts'
import type {TokenPolicy, WantedToken} from '../tokens/create.ts'
import type {InitPhaseName} from './names.ts'

/** What the phases of `init` work with. */
export interface InitContext {
  plane: Plane
  clock: Clock
  /** Prints a line about what was done. */
  tell: (line: string) => void
  warn: (line: string) => void
  /** The command that starts this program, without arguments. */
  program: readonly string[]
  /** Whether to replace certificates that an operator provided and that cannot be used. */
  replacesBrought?: boolean
  /** Instead of a process in the background: `init --foreground`. */
  startInForeground?: (plane: Plane) => Promise<void>
  /** Under systemd instead of in the background: `init --systemd`. */
  systemd?: {unitDir: string}
  connect: (plane: Plane) => Promise<ApiClient>
  /** The tokens that should exist; without this, one with kubeadm's defaults. */
  tokens?: TokenPolicy & {wanted: readonly WantedToken[]}
  /** What the CAs are uploaded with; without it, a new key. */
  certificateKey?: CertificateKey | undefined
  /** That key, once they are uploaded. */
  uploadedWith?: string
  /** The token for the join command, once a phase has created or found it. */
  joinToken?: BootstrapTokenInfo
}

export type InitPhase = Phase<InitContext, InitPhaseName>

/** Calls the API as an administrator. */
export async function asAdmin<Result>(
  {plane, connect}: Pick<InitContext, 'plane' | 'connect'>,
  work: (client: ApiClient) => Promise<Result>,
): Promise<Result> {
  const client = await connect(plane)
  try {
    return await work(client)
  } finally {
    await client.close()
  }
}

/** Plans by comparing with the server; `initial` is the plan if no server is running. */
export async function planAsAdmin(
  context: InitContext,
  initial: string[],
  plan: (client: ApiClient) => Promise<string[]>,
): Promise<string[]> {
  return (await findServer(context.plane)) ? await asAdmin(context, plan) : initial
}
