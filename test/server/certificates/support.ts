import {generateKeyPairSync} from 'node:crypto'
import {Agent} from 'node:https'
import type {KeyPair} from '../../../src/pki/keys.ts'
import {OID} from '../../../src/pki/oids.ts'
import {startTestServer, type Credentials, type TestServer} from '../../helpers/test-server.ts'
import {buildRequest, SIGN, type RequestParts} from '../../pki/request-builder.ts'
import {get1, type HttpAnswer} from '../http/support.ts'
import type {AnyBody} from '../support.ts'

export const CSRS = '/apis/certificates.k8s.io/v1/certificatesigningrequests'
export const BETA_CSRS = '/apis/certificates.k8s.io/v1beta1/certificatesigningrequests'
export const RBAC = '/apis/rbac.authorization.k8s.io/v1'

export const encoded = (text: string | Uint8Array) => Buffer.from(text).toString('base64')

export interface Answer extends HttpAnswer {
  body: AnyBody
  /** `field: message` of every cause. */
  causes: string[]
}

/** Whom an administrator asks to be taken for. */
export interface Impersonated {
  user: string
  uid?: string
  groups?: string[]
  extra?: Record<string, string>
}

export interface SendOptions {
  as?: Impersonated
  type?: string
  headers?: Record<string, string | string[]>
}

/** Talks to a listening server over TLS, with one client certificate. */
export class HttpApi {
  readonly #server: TestServer
  readonly #credentials: Credentials | undefined
  readonly #agent = new Agent({keepAlive: true})

  constructor(server: TestServer, credentials?: Credentials) {
    this.#server = server
    this.#credentials = credentials
  }

  async send(
    method: string,
    path: string,
    body?: unknown,
    {as, type = 'application/json', headers = {}}: SendOptions = {},
  ): Promise<Answer> {
    const answer = await get1(this.#server, path, {
      method,
      headers: {'Content-Type': type, ...headersOf(as), ...headers},
      ...(body === undefined ? {} : {body: bytesOf(body)}),
      ...(this.#credentials && {credentials: this.#credentials}),
      agent: this.#agent,
    })
    const parsed = JSON.parse(answer.text) as AnyBody
    const causes = (parsed.details?.causes ?? []) as {field: string; message: string}[]
    return {
      ...answer,
      body: parsed,
      causes: causes.map(({field, message}) => `${field}: ${message}`),
    }
  }

  get(path: string, options?: SendOptions) {
    return this.send('GET', path, undefined, options)
  }

  post(path: string, body: unknown, options?: SendOptions) {
    return this.send('POST', path, body, options)
  }

  put(path: string, body: unknown, options?: SendOptions) {
    return this.send('PUT', path, body, options)
  }

  patch(path: string, body: unknown, options: SendOptions = {}) {
    return this.send('PATCH', path, body, {type: 'application/merge-patch+json', ...options})
  }

  delete(path: string, options?: SendOptions) {
    return this.send('DELETE', path, undefined, options)
  }

  /** As `post`, where anything but success is a mistake of the test. */
  async make(path: string, body: unknown, options?: SendOptions): Promise<AnyBody> {
    return expectSuccess(await this.post(path, body, options))
  }

  async change(path: string, body: unknown, options?: SendOptions): Promise<AnyBody> {
    return expectSuccess(await this.put(path, body, options))
  }

  close(): void {
    this.#agent.destroy()
  }
}

function expectSuccess({status, body, text}: Answer): AnyBody {
  if (status >= 300) throw new Error(`${status} ${text}`)
  return body
}

const bytesOf = (body: unknown) =>
  typeof body === 'string' || body instanceof Uint8Array ? body : JSON.stringify(body)

const headersOf = (as: Impersonated | undefined): Record<string, string | string[]> =>
  as === undefined
    ? {}
    : {
        'Impersonate-User': as.user,
        ...(as.uid === undefined ? {} : {'Impersonate-Uid': as.uid}),
        ...(as.groups === undefined ? {} : {'Impersonate-Group': as.groups}),
        ...Object.fromEntries(
          Object.entries(as.extra ?? {}).map(([key, value]) => [`Impersonate-Extra-${key}`, value]),
        ),
      }

/** A server for the tests of a block, and an administrator's way to it. */
export function useServer(options: Parameters<typeof startTestServer>[0] = {}): {
  server: () => TestServer
  api: () => HttpApi
} {
  let server: TestServer | undefined
  let api: HttpApi | undefined
  before(async () => {
    server = await startTestServer({controllers: false, ...options})
    api = new HttpApi(server, await server.credentialsFor('admin', ['system:masters']))
  })
  after(async () => {
    api?.close()
    await server?.stop()
  })
  return {server: () => present(server), api: () => present(api)}
}

function present<T>(value: T | undefined): T {
  if (value === undefined) throw new Error('not there yet')
  return value
}

/** A valid request: Ed25519, of testing-org. */
export function ed25519Request(parts: RequestParts = {}): string {
  const keys: KeyPair = generateKeyPairSync('ed25519')
  return buildRequest(keys, {
    subject: [{oid: OID.organization, value: 'testing-org'}],
    algorithm: SIGN.ed25519,
    ...parts,
  })
}

let made = 0

/** The object that the cases vary, under its own name. */
export function csrObject(spec: object = {}, more: object = {}) {
  made += 1
  return {
    metadata: {name: `testcsr-${made}`},
    spec: {
      ...(!('request' in spec) && {request: encoded(ed25519Request())}),
      signerName: 'example.com/valid-name',
      usages: ['key encipherment'],
      ...spec,
    },
    ...more,
  }
}

export const condition = (type: string, status = 'True') => ({type, status})

/** ClusterRole and binding of that name: the user may do that, and nothing else. */
export async function allow(
  api: HttpApi,
  name: string,
  user: string,
  ...rules: {verbs: string[]; resources: string[]; resourceNames?: string[]; apiGroups?: string[]}[]
): Promise<void> {
  await api.make(`${RBAC}/clusterroles`, {
    metadata: {name},
    rules: rules.map((rule) => ({apiGroups: ['certificates.k8s.io'], ...rule})),
  })
  const apiGroup = 'rbac.authorization.k8s.io'
  await api.make(`${RBAC}/clusterrolebindings`, {
    metadata: {name},
    roleRef: {apiGroup, kind: 'ClusterRole', name},
    subjects: [{apiGroup, kind: 'User', name: user}],
  })
}
