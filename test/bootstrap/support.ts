import fc from 'fast-check'
import type {Secret} from '../../src/api/core.ts'
import {
  TOKEN_CHARACTERS,
  TOKEN_ID_LENGTH,
  TOKEN_SECRET_LENGTH,
  type BootstrapToken,
} from '../../src/bootstrap/token.ts'

export const NOW = new Date('2026-03-01T12:00:00Z')
export const HOUR = 3_600_000

const textOf = (length: number) =>
  fc.string({
    unit: fc.constantFrom(...TOKEN_CHARACTERS.split('')),
    minLength: length,
    maxLength: length,
  })

export const anyToken: fc.Arbitrary<BootstrapToken> = fc.record(
  {id: textOf(TOKEN_ID_LENGTH), secret: textOf(TOKEN_SECRET_LENGTH)},
  {noNullPrototype: true},
)

export interface SecretChanges {
  name?: string
  namespace?: string
  type?: string
  deletionTimestamp?: string
  data?: Record<string, string | undefined>
}

/** The Secret that Kubernetes' own tests of the authenticator start from, with changes. Undefined takes a key out. */
export function foobarSecret({data, type, ...metadata}: SecretChanges = {}): Secret {
  const values: Record<string, string | undefined> = {
    'token-id': 'foobar',
    'token-secret': 'circumnavigation',
    'usage-bootstrap-authentication': 'true',
    ...data,
  }
  return {
    metadata: {name: 'bootstrap-token-foobar', namespace: 'kube-system', ...metadata},
    type: type ?? 'bootstrap.kubernetes.io/token',
    data: Object.fromEntries(
      Object.entries(values).flatMap(([key, value]) =>
        value === undefined ? [] : [[key, Buffer.from(value).toString('base64')]],
      ),
    ),
  }
}
