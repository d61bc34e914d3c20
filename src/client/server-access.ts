import type {UserInfo} from '../api/meta.ts'

/** All that is needed to talk to one server as one user: what a context of a kubeconfig comes down to. */
export interface ServerAccess {
  /** Scheme, host, port and perhaps a path before `/api`. */
  server: string
  /** The CAs that may vouch for the server, as PEM; without them the system's roots count. */
  ca?: string | undefined
  /** The server's certificate is not checked at all. */
  insecure?: boolean | undefined
  /** The name that the server's certificate has to be for, where it is not the host's. */
  tlsServerName?: string | undefined
  clientCertificate?: ClientCertificate | undefined
  /** Asked before every request, so that a token file may change while the client runs. */
  bearerToken?: (() => Promise<string | undefined>) | undefined
  impersonate?: Partial<UserInfo> | undefined
  /** Wins over the proxy variables of the environment. */
  proxyUrl?: string | undefined
  namespace?: string | undefined
}

export interface ClientCertificate {
  /** Leaf first, as PEM. */
  certificate: string
  key: string
}
