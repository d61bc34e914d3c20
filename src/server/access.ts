import {nodeUser} from '../csr/node-names.ts'
import type {Clock} from '../runtime.ts'
import type {Live} from '../trust/live.ts'
import {RevocationList} from '../trust/revocations.ts'
import type {TokenKeys} from '../trust/token-keys.ts'
import {createAuthenticator, type Authenticate} from './authn/authenticator.ts'
import {type BearerAuthenticator, createTokenReview} from './authn/bearer.ts'
import {bootstrapTokenAuthenticator} from './authn/bootstrap-tokens.ts'
import {createCertificateAuthenticator, type ClientTrust} from './authn/client-certificates.ts'
import type {SeenClients} from './authn/seen-clients.ts'
import {
  issueServiceAccountToken,
  serviceAccountAuthenticator,
  type ServiceAccountTokenOptions,
} from './authn/service-account-tokens.ts'
import {createAuthorize} from './authz/authorizer.ts'
import {nodeAuthorizer, rulesOfNodes} from './authz/node/node-authorizer.ts'
import {NodeGraph} from './authz/node/node-graph.ts'
import {RbacIndex, rulesReview} from './authz/rbac/rbac-index.ts'
import {feedNodeGraph, feedOpenAnswers, feedRbacIndex, feedRevocations} from './feeds.ts'
import type {Authorize} from './kernel/resource.ts'
import type {ServerServices} from './kernel/services.ts'
import {OpenAnswers} from './open-answers.ts'
import type {Registry} from './registry/registry.ts'

export interface AccessOptions {
  /** Whose certificates and tokens are accepted. A new generation applies from the next request on, also on open connections. */
  trust: Live<ClientTrust & {tokenKeys: TokenKeys}>
  /** The issuer of service-account tokens. */
  tokenIssuer: string
  clock: Clock
  /** Receives every client certificate and every token of a service account that authenticates. */
  seen: Record<'clients' | 'tokens', Pick<SeenClients, 'note'>>
}

/** Who callers are, what they may do, and which of their responses are still open. */
export interface Access {
  authenticate: Authenticate
  authorize: Authorize
  answers: OpenAnswers
  rbac: RbacIndex
  /** The revoked certificates. */
  revoked: RevocationList
  /** What resources need from authentication and authorization. */
  services: ServerServices
  /** To be called once memory is loaded: until then no policy applies and no token is accepted. */
  follow(registry: Registry): void
}

export function createAccess({trust, tokenIssuer, clock, seen}: AccessOptions): Access {
  const audiences = [tokenIssuer]
  const keys = () => trust.current.tokenKeys
  const tokens = {issuers: [tokenIssuer] as [string], keys, clock}

  // Filled by follow: the table of resources needs them, and they need what the table describes.
  const bearers: BearerAuthenticator[] = []
  const revoked = new RevocationList()
  const certificates = createCertificateAuthenticator(trust, revoked, seen.clients)
  const authenticate = createAuthenticator({certificates, bearers, audiences, clock})
  const answers = new OpenAnswers(authenticate, clock)
  const rbac = new RbacIndex()
  const nodeGraph = new NodeGraph((node) => answers.changed({user: nodeUser(node)}))
  return {
    authenticate,
    authorize: createAuthorize(rbac, [nodeAuthorizer(nodeGraph)]),
    answers,
    rbac,
    revoked,
    services: createServerServices({index: rbac, bearers, audiences, tokens}),
    follow(registry) {
      feedRbacIndex(registry, rbac)
      feedNodeGraph(registry, nodeGraph)
      feedOpenAnswers(registry, answers)
      feedRevocations(registry, revoked, () => answers.changed('all'))
      bearers.push(
        serviceAccountAuthenticator({...tokens, objects: registry, revoked, seen: seen.tokens}),
        bootstrapTokenAuthenticator({objects: registry, clock}),
      )
    },
  }
}

interface ServerServicesOptions {
  index: RbacIndex
  bearers: readonly BearerAuthenticator[]
  /** The server's own, which a token is for where nothing else is asked. */
  audiences: readonly string[]
  tokens: Pick<ServiceAccountTokenOptions, 'clock' | 'issuers' | 'keys'>
}

/** What reviews and token requests need, made of the parts that serve requests themselves. */
export function createServerServices({
  index,
  bearers,
  audiences,
  tokens,
}: ServerServicesOptions): ServerServices {
  return {
    audiences: [...audiences],
    rulesFor: (user, namespace) => rulesOfNodes(user, rulesReview(index, user, namespace)),
    reviewToken: createTokenReview(bearers, audiences),
    issueToken: (order) => issueServiceAccountToken(tokens, order),
  }
}
