import type {UserInfo} from '../api/meta.ts'
import type {ExecConfig} from './exec-config.ts'

/** All that is needed to talk to one server as one user: the content of a kubeconfig's context. */
export interface ServerAccess {
  /** Scheme, host, port and optionally a path before `/api`. */
  server: string
  /** The CAs to verify the server with, as PEM; by default the system's roots. */
  ca?: string | undefined
  /** The server's certificate is not checked at all. */
  insecure?: boolean | undefined
  /** The name that the server's certificate must be for, if it is not the host's. */
  tlsServerName?: string | undefined
  clientCertificate?: ClientCertificate | undefined
  /** Called before every request, so that a token file may change while the client runs. */
  bearerToken?: (() => Promise<string | undefined>) | undefined
  /** After a 401, with the token that was sent: whether there is another credential now. */
  renewCredential?: ((used: string | undefined) => Promise<boolean>) | undefined
  /** The program that the credentials come from; `connectTo` runs it. */
  exec?: ExecConfig | undefined
  impersonate?: Partial<UserInfo> | undefined
  /** Overrides the proxy variables of the environment. */
  proxyUrl?: string | undefined
  namespace?: string | undefined
}

export interface ClientCertificate {
  /** Leaf first, as PEM. */
  certificate: string
  key: string
}

/** A match may only start at the first slash of a run: otherwise a long run takes quadratic time. */
const TRAILING_SLASHES = /(?<!\/)\/+$/

export const withoutTrailingSlashes = (url: string): string => url.replace(TRAILING_SLASHES, '')
