type Fields = Record<string, unknown>

/** Fields of a kubeconfig that contain credentials, or say where to get them. */
const CREDENTIAL_FIELDS = new Set([
  'as',
  'as-groups',
  'as-uid',
  'as-user-extra',
  'auth-provider',
  'client-certificate',
  'client-certificate-data',
  'client-key',
  'client-key-data',
  'exec',
  'password',
  'token',
  'tokenFile',
  'username',
])

/** The path of the first credential anywhere in a kubeconfig; a user without credentials counts too. */
export function findCredential(config: Fields): string | undefined {
  const found = search(config, '')
  if (found !== undefined) return found
  const {users} = config
  if (users == null || (Array.isArray(users) && users.length === 0)) return undefined
  return Array.isArray(users) ? 'users[0]' : 'users'
}

function search(value: unknown, path: string): string | undefined {
  if (Array.isArray(value)) {
    return firstOf(value.map((item: unknown, index) => () => search(item, `${path}[${index}]`)))
  }
  if (typeof value !== 'object' || value === null) return undefined
  return firstOf(
    Object.entries(value).map(([key, inner]) => () => {
      const here = path === '' ? key : `${path}.${key}`
      return CREDENTIAL_FIELDS.has(key) && inner != null ? here : search(inner, here)
    }),
  )
}

function firstOf(searches: (() => string | undefined)[]): string | undefined {
  for (const attempt of searches) {
    const found = attempt()
    if (found !== undefined) return found
  }
  return undefined
}
